import type * as z from "zod/mini";

/** Tells whether a value is accepted as it is. */
export type QuickCheck = (value: unknown) => boolean;

/**
 * Makes a check of a schema that accepts nothing the schema would refuse or change, and says no more than yes or no. It costs a
 * tenth of the schema's own parsing and leaves no garbage, and nearly every call is valid; what it does not accept, the schema
 * judges. Returns null for a schema with a part that is not known here.
 */
export function quickCheckOf(schema: z.core.$ZodType): QuickCheck | null {
  const def = definitionOf(schema);
  const limits = (def.checks ?? []).map((check) => limitOf(check as z.core.$ZodChecks));
  return [baseOf(def), ...limits].reduce(
    (before, limit) => before && limit && ((value) => before(value) && limit(value)),
  );
}

type Definition = z.core.$ZodTypes["_zod"]["def"];

function definitionOf(schema: z.core.$ZodType): Definition {
  const {
    _zod: { def },
  } = schema as z.core.$ZodTypes;
  return def;
}

function baseOf(def: Definition): QuickCheck | null {
  if (def.type === "string") return "format" in def ? null : (value) => typeof value === "string";
  if (def.type === "number") return "format" in def && def.format === "safeint" ? Number.isSafeInteger : null;
  if (def.type === "boolean") return (value) => typeof value === "boolean";
  if (def.type === "literal") return isOneOf(def.values);
  if (def.type === "enum") return isOneOf(Object.values(def.entries));
  if (def.type === "nullable") {
    const inner = quickCheckOf(def.innerType);
    return inner && ((value) => value === null || inner(value));
  }
  if (def.type === "array") {
    const element = quickCheckOf(def.element);
    return element && ((value) => Array.isArray(value) && value.every(element));
  }
  return def.type === "object" ? objectCheck(def) : null;
}

function isOneOf(values: readonly unknown[]): QuickCheck {
  return (value) => values.includes(value);
}

interface Field {
  name: string;
  isOptional: boolean;
  check: QuickCheck;
}

/** Checks an object that may have no other fields, as all parameters are. */
function objectCheck({ shape, catchall }: z.core.$ZodObjectDef): QuickCheck | null {
  if (catchall === undefined || definitionOf(catchall).type !== "never") return null;
  const fields: Field[] = [];
  for (const [name, schema] of Object.entries(shape)) {
    const def = definitionOf(schema);
    const check = quickCheckOf(def.type === "optional" ? def.innerType : schema);
    if (check === null || name in Object.prototype) return null;
    fields.push({ name, isOptional: def.type === "optional", check });
  }
  return (value) => isPlainObject(value) && hasExactly(value, fields);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function hasExactly(value: Record<string, unknown>, fields: readonly Field[]): boolean {
  let expected = 0;
  for (const { name, isOptional, check } of fields) {
    const field = value[name];
    if (field === undefined && isOptional) continue;
    if (!check(field)) return false;
    expected++;
  }
  return Object.keys(value).length === expected;
}

function limitOf(check: z.core.$ZodChecks): QuickCheck | null {
  const {
    _zod: { def },
  } = check;
  if (def.check === "min_length") return (value) => lengthOf(value) >= def.minimum;
  if (def.check === "max_length") return (value) => lengthOf(value) <= def.maximum;
  if (def.check === "greater_than" && def.inclusive) return (value) => Number(value) >= Number(def.value);
  if (def.check === "less_than" && def.inclusive) return (value) => Number(value) <= Number(def.value);
  return def.check === "string_format" ? formatLimit(def) : null;
}

function lengthOf(value: unknown): number {
  return (value as string | readonly unknown[]).length;
}

function formatLimit(def: z.core.$ZodCheckStringFormatDef): QuickCheck | null {
  if (def.format === "starts_with" && "prefix" in def) {
    const prefix = String(def.prefix);
    return (value) => (value as string).startsWith(prefix);
  }
  const { format, pattern } = def;
  // A global pattern remembers where it was.
  if (format !== "regex" || pattern === undefined || pattern.global || pattern.sticky) return null;
  return (value) => pattern.test(value as string);
}

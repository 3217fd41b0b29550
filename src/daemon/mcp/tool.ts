import type { CallName, CallParams, CallResults, StreamItems } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { shorten } from "../../protocol/names.ts";
import { isTable, textOf } from "../../util/fields.ts";
import { own } from "../../util/own.ts";
import type { Actor } from "../permissions/actor.ts";
import type { Services } from "../services.ts";

/** The worker that a tool acts as. It is the one whose token the bridge has shown; no argument of a call can name another. */
export type WorkerActor = Extract<Actor, { kind: "worker" }>;

/** A tool as agents see it, and what it does. Each does what the command of the same name does, by the same calls. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The tool changes nothing. */
  readonly readOnly: boolean;
  readonly input: ObjectSchema;
  readonly output: ObjectSchema;
  run(args: Arguments, call: ToolCall): Promise<object>;
}

/** The part of JSON Schema that the tools use. */
export interface ObjectSchema {
  type: "object";
  properties: Readonly<Record<string, FieldSchema>>;
  required?: readonly string[];
  additionalProperties: false;
}

export interface FieldSchema {
  type: "string" | "boolean" | "integer" | "array" | "object" | readonly ("string" | "integer" | "null")[];
  description?: string;
  enum?: readonly string[];
  items?: FieldSchema | ObjectSchema;
  properties?: Readonly<Record<string, FieldSchema>>;
  required?: readonly string[];
  additionalProperties?: false;
}

export type Arguments = Readonly<Record<string, unknown>>;

/** One call of a tool. */
export interface ToolCall {
  readonly services: Services;
  readonly actor: WorkerActor;
  /** The caller is an agent that the worker's agent started: it inherited the environment, not the identity. */
  readonly nested: boolean;
  /** The id of the message that the call sends: the same when the bridge asks again, so that nothing is sent twice. */
  readonly messageId: string;
  /** How long the agent has waited already, for a call that is asked again. */
  readonly ageMs: number;
  /** Makes a call of the daemon's as the worker. */
  dispatch<N extends CallName>(name: N, params: CallParams<N>): Promise<CallResults[N]>;
  /** Makes a call that streams, and collects its items. */
  collect<N extends keyof StreamItems>(name: N, params: CallParams<N>): Promise<StreamItems[N][]>;
  /**
   * Hands messages over in the answer. They count as read once the conversation shows the mark that is returned, which has to stand
   * in the answer; where it shows no marks, once the answer has left.
   */
  handOver(ids: readonly string[]): { mark?: string };
  /** Tells the agent's program how long the call has been waiting. */
  progress(message: string): void;
}

export const objectSchema = (
  properties: ObjectSchema["properties"],
  required: readonly string[] = Object.keys(properties),
): ObjectSchema => ({ type: "object", properties, required, additionalProperties: false });

export const textField = (description?: string): FieldSchema => ({
  type: "string",
  ...(description && { description }),
});

/** Throws unless the arguments are those of the schema: also one that is not known, since it may claim to be somebody. */
export function checkArguments(tool: string, { properties, required = [] }: ObjectSchema, given: unknown): Arguments {
  const args = given === undefined ? {} : given;
  if (!isTable(args)) throw wrong(tool, "the arguments must be an object");
  for (const [name, value] of Object.entries(args)) {
    const field = own(properties, name);
    if (field === undefined) throw wrong(tool, `there is no argument ${shorten(JSON.stringify(name))}`);
    if (!isOf(field, value)) throw wrong(tool, `${name} must be a ${String(field.type)}`);
  }
  const missing = required.find((name) => !Object.hasOwn(args, name));
  if (missing !== undefined) throw wrong(tool, `${missing} is missing`);
  return args;
}

/** Returns an argument that the schema has as a text; an empty one if it was not given. */
export function textArgument(args: Arguments, name: string): string {
  return textOf(args[name]) ?? "";
}

function isOf({ type }: FieldSchema, value: unknown): boolean {
  if (type === "string" || type === "boolean") return typeof value === type;
  return type === "integer" && Number.isSafeInteger(value);
}

function wrong(tool: string, problem: string): PerdureError {
  return new PerdureError("usage", `${tool}: ${problem}.`, { hint: "see the tool's input schema" });
}

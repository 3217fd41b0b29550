import { asObject, type Body } from "./json.ts";
import type { ModelRequest } from "./log.ts";
import type { Reply, Tool } from "./wire.ts";
import { directivesIn, type Failure } from "./prompt-directives.ts";

const TEXT_LENGTH_MAX = 200;
const HARMLESS = "A made-up title";

export interface Answer {
  hold: boolean;
  fail: Failure | null;
  reply: Reply;
}

/**
 * The model's answer: it follows the last turn's directives, else lists the turns it has seen, which shows whether history came along.
 * `wasAsked`: an earlier request had the same last turn.
 */
export function answerTo({ auxiliary, turns, results, tools }: ModelRequest, wasAsked: boolean): Answer {
  if (auxiliary) return { hold: false, fail: null, reply: harmless(tools) };
  const { calls, before, empty, hold, fail } = directivesIn(turns.at(-1) ?? "", wasAsked);
  const call = calls[results.length];
  if (call) {
    const called = { tool: toolCalled(call.name, tools), input: call.input };
    return { hold, fail, reply: before === null ? called : { ...called, before } };
  }
  if (empty) return { hold, fail, reply: { text: "" } };
  const told = [`turns=${turns.length}`, `first=${short(turns[0])}`, `last=${short(turns.at(-1))}`];
  if (results.length > 0) told.push(`tool=${short(results.at(-1))}`);
  return { hold, fail, reply: { text: told.join(" ") } };
}

/** Finds a tool by its full name, or by its short one where that is enough; one that is not on offer is called all the same. */
function toolCalled(name: string, tools: readonly Tool[]): Tool {
  const full = tools.find((tool) => (tool.group ?? "") + tool.name === name);
  return full ?? tools.find((tool) => tool.name === name) ?? { name, schema: {} };
}

/** Shortens a text, and leaves the marks of mail out: a real model does not repeat those, so nothing may depend on that it does. */
function short(text = ""): string {
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/m-[0-9a-f]{16}/g, "m-…")
    .slice(0, TEXT_LENGTH_MAX);
}

/** One tool alone is a form to be filled in: the program wants its answer in that shape. */
function harmless(tools: readonly Tool[]): Reply {
  const [form, ...others] = tools;
  const fields = Object.entries(asObject(form?.schema.properties));
  if (!form || others.length > 0 || fields.length === 0) return { text: HARMLESS };
  return { tool: form, input: Object.fromEntries(fields.map(([name, field]) => [name, blank(asObject(field))])) };
}

function blank({ type }: Body): unknown {
  const blanks: Record<string, unknown> = { boolean: false, number: 0, integer: 0, array: [], object: {} };
  return blanks[String(type)] ?? HARMLESS;
}

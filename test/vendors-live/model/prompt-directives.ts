import { asObject, parse, type Body } from "./json.ts";

/** Directives to the model in a user's text, in double brackets. */
export interface PromptDirectives {
  /** `[[tool NAME {json}]]`: calls to make, one after the other. */
  calls: { name: string; input: Body }[];
  /** `[[before TEXT]]`: said in front of each of those calls. */
  before: string | null;
  /** `[[empty]]`: an answer without a word. */
  empty: boolean;
  /** `[[hold]]`: no answer before `release()`; `[[hold once]]`: the same, but only when this turn is asked for the first time. */
  hold: boolean;
  /** `[[fail 429 insufficient_quota 60]]`: this HTTP status instead of an answer. */
  fail: Failure | null;
}

/** An error in place of an answer: the HTTP status, the provider's word for it, and the seconds of its `retry-after`. */
export interface Failure {
  status: number;
  kind: string | null;
  retryAfterSeconds: number | null;
}

export function directivesIn(text: string, wasAsked = false): PromptDirectives {
  const hold = text.includes("[[hold]]") || (text.includes("[[hold once]]") && !wasAsked);
  const [, before = null] = /\[\[before ([^\]]+)\]\]/.exec(text) ?? [];
  return { calls: callsOf(text), before, empty: text.includes("[[empty]]"), hold, fail: failureIn(text) };
}

function failureIn(text: string): Failure | null {
  const [, status, kind = null, seconds] = /\[\[fail (\d{3})(?: ([A-Za-z_]+))?(?: (\d+))?\]\]/.exec(text) ?? [];
  if (status === undefined) return null;
  return { status: Number(status), kind, retryAfterSeconds: seconds === undefined ? null : Number(seconds) };
}

function callsOf(text: string): PromptDirectives["calls"] {
  return [...text.matchAll(/\[\[tool (\S+) (?=\{)/g)].flatMap((match) => {
    const input = inputAt(text, match.index + match[0].length);
    return input === null ? [] : [{ name: match[1] ?? "", input }];
  });
}

/** The JSON input of a directive. It may have brackets of its own, so it ends at the first `]]` that leaves valid JSON. */
function inputAt(text: string, start: number): Body | null {
  for (let end = text.indexOf("]]", start); end >= 0; end = text.indexOf("]]", end + 1)) {
    const input = parse(text.slice(start, end));
    if (input !== undefined) return asObject(input);
  }
  return null;
}

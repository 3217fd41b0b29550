import { asObject, parse, type Body } from "./json.ts";

/** Directives to the model in a user's text, in double brackets. */
export interface PromptDirectives {
  /** `[[tool NAME {json}]]`: calls to make, one after the other. */
  calls: { name: string; input: Body }[];
  /** `[[hold]]`: no answer before `release()`. */
  hold: boolean;
  /** `[[fail 401]]`: this HTTP status instead of an answer. */
  fail: number | null;
}

export function directivesIn(text: string): PromptDirectives {
  const status = /\[\[fail (\d{3})\]\]/.exec(text)?.[1];
  return { calls: callsOf(text), hold: text.includes("[[hold]]"), fail: status === undefined ? null : Number(status) };
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

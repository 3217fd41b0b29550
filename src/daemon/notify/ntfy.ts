import type { NoticeRecord } from "../../protocol/records/needs.ts";

/**
 * Writes a notice as the configuration that `curl -K -` reads: the topic is as good as a password, and every user of the machine sees
 * the arguments of a program. The reason may quote an agent, so it is sent only where the user has asked for `details`.
 */
export function ntfyRequest(url: string, notice: NoticeRecord, details: boolean): string {
  const { address, event, hint, reason } = notice;
  const more = details ? [reason, hint].filter((each) => each !== null) : [];
  const options: [name: string, value: string][] = [
    ["url", url],
    ["header", `Title: ${address} ${TITLES[event]}`],
    ["header", `Priority: ${event === "needs-you" ? "high" : "low"}`],
    ["data-raw", [sentence(notice), ...more].join("\n")],
    ["output", "/dev/null"],
    ["proto", "=http,https"],
    ["max-time", "10"],
  ];
  const lines = options.map(([name, value]) => `${name} = "${escaped(value)}"`);
  return `${[...lines, "globoff", "silent", "show-error", "fail"].join("\n")}\n`;
}

const TITLES = { "needs-you": "needs you", "went-on": "went on", test: "test" } as const;

function sentence({ address, event, state }: NoticeRecord): string {
  if (event === "test") return `This is a test of perdure for ${address}.`;
  if (state === "mail") return `${address} has sent you mail.`;
  return event === "went-on" ? `${address} is ${state} now.` : `${address} is ${state}.`;
}

/** Escapes a value for curl's quotes; its other control characters have no meaning for anybody. */
function escaped(value: string): string {
  const plain = value.replaceAll(/[^\P{Cc}\n\t]/gu, " ");
  return plain.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

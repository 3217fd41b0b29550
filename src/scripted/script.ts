/** What `--script` says: lines to hear before any input, and how to misbehave at the launch itself. */
export interface Script {
  lines: string[];
  /** Takes another id than the one it was asked for, and says nothing about it. */
  wrongId: boolean;
  /** Shows no sign of life for so long. */
  lateMs: number;
}

/** `late 200; wrong-id; hello; /crash 3` */
export function readScript(text: string): Script {
  const items = text
    .split(";")
    .map((item) => item.trim())
    .filter((item) => item !== "");
  const late = items.map((item) => /^late (\d+)$/.exec(item)?.[1]).find((ms) => ms !== undefined);
  return {
    lines: items.filter((item) => !/^(wrong-id|late \d+)$/.test(item)),
    wrongId: items.includes("wrong-id"),
    lateMs: Number(late ?? 0),
  };
}

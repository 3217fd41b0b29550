// A full-screen program as agents are: alternate screen, raw keys, mouse, no cursor. One key each ends it badly.
const { stdin, stdout } = process;

function enter(): void {
  stdin.setRawMode(true);
  stdout.write("\x1b[?1049h\x1b[?25l\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h\x1b[?1h\x1b=\x1b[Hraw program\r\n");
}

function leave(): void {
  stdout.write("\x1b[?1l\x1b>\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?25h\x1b[?1049l");
  stdin.setRawMode(false);
}

const keys: Readonly<Record<string, () => void>> = {
  t: () => {
    // Node itself puts raw mode back on this way out, and nothing else.
    throw new Error("crash");
  },
  a: () => process.abort(),
  s: () => process.kill(process.pid, "SIGSEGV"),
  q: () => {
    leave();
    process.exit(0);
  },
  "\x1a": () => {
    leave();
    process.kill(0, "SIGTSTP");
  },
};

process.on("SIGCONT", enter);
stdout.on("resize", () => stdout.write(`columns ${stdout.columns}\r\n`));
stdin.on("data", (data: Buffer) => {
  for (const key of data.toString("latin1")) (keys[key] ?? (() => stdout.write(`key ${key.charCodeAt(0)}\r\n`)))();
});
enter();

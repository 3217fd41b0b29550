import { conflict, row, usage, type BadInput } from "./row.ts";

/** Command lines that are well formed, but conflict with the state of things. */
export const conflictRows: BadInput[] = [
  conflict("rename coder sleeper", /^api\/sleeper already exists\.$/, /another name/),
  conflict("rename coder maker", /^maker is the old name of api\/builder/, /perdure retire maker/),
  row("retire sleeper", 4, "held", /^api\/sleeper is running: run .*, pid \d+\.$/, /perdure stop (api\/)?sleeper/),
  conflict("project move lib", /^Project lib is still at .*; it was not moved\.$/, /move or remove/),
  conflict("project move api", /^Project api is already here/, /nothing to do/),
  conflict("init", /configured\/perdure\.toml already exists; it was not changed\.$/, /edit/, { cwd: "configured" }),
  conflict("backup ../taken.db", /taken\.db already exists; a backup never overwrites\.$/, /another file/),
  conflict("backup .", /already exists/, /another file/),
  row("backup nowhere/x.db", 7, "unavailable", /^The backup to .*nowhere\/x\.db failed/, /folder/),
];

const inConfig = (cwd: string, message: RegExp, hint: RegExp): BadInput[] =>
  ["whoami", "run coder -- true", "project", "up", "trust", "context path"].map((args) =>
    usage(args, message, hint, { cwd }),
  );

/** Command lines whose folders, files or variables are wrong. */
export const environmentRows: BadInput[] = [
  ...inConfig("syntax", /^perdure\.toml:2: .*\.$/, /edit perdure\.toml/),
  ...inConfig("unknown-key", /^perdure\.toml:5: unknown key "defaults\.restrt"\.$/, /did you mean restart\?/),
  usage("whoami", /^perdure\.toml:2: unknown key "constructor"\.$/, /known keys/, { cwd: "strange-key" }),
  usage("whoami", /^perdure\.toml:2: "two words" is not a name/, /try two-words/, { cwd: "bad-name" }),
  usage(
    "project",
    /^perdure\.toml:2: workers\.coder\.restart must be one of never, on-failure, always, not "sometimes"\.$/,
    /edit/,
    { cwd: "bad-value" },
  ),
  usage("project", /perdure\.toml/, /./, { cwd: "folder-as-file" }),
  usage("whoami", /user-config\/perdure\/config\.toml:1: unknown key "nmae"/, /did you mean name/, {
    env: { XDG_CONFIG_HOME: "{home}/user-config" },
  }),
  ...["", "ls", "whoami", "run coder -- true", "daemon status", "backup x.db"].map((args) =>
    usage(args, /^PERDURE_HOME is "state", which is not an absolute path\.$/, /PERDURE_HOME/, {
      env: { PERDURE_HOME: "state" },
    }),
  ),
  row("ls", 5, "unsafe", /open-state is not safe .*other users have access to it \(mode 0777\)/, /chmod 700/, {
    env: { PERDURE_HOME: "{home}/open-state" },
  }),
  row("ls", 5, "unsafe", /linked-state is not safe .*symbolic link/, /PERDURE_HOME/, {
    env: { PERDURE_HOME: "{home}/linked-state" },
  }),
  row("ls", 5, "unsafe", /taken\.db is not safe .*not a folder/, /./, { env: { PERDURE_HOME: "{home}/taken.db" } }),
  row("ls", 5, "unsafe", /taken\.db.*not a folder/, /./, { env: { PERDURE_HOME: "{home}/taken.db/below" } }),
  row("ls", 5, "refused", /^PERDURE_TOKEN is not the token of a known run/, /unset PERDURE_TOKEN/, {
    env: { PERDURE_SOCKET: "{home}/.local/state/perdure/perdure.sock", PERDURE_TOKEN: "made-up" },
  }),
];

import { conflict, missing, row, usage, type BadInput } from "./row.ts";
import { conflictRows, environmentRows } from "./environment-rows.ts";

/** Each verb with an option it does not have, and one word more than it takes. */
const TOO_MANY_WORDS: [verb: string, tooMany: string][] = [
  ["run", "run a b -- true"],
  ["ls", "ls a"],
  ["show", "show a b"],
  ["history", "history a b"],
  ["whoami", "whoami a"],
  ["rename", "rename a b c"],
  ["retire", "retire a b"],
  ["takeover", "takeover a b"],
  ["adopt", "adopt a b"],
  ["fork", "fork a b c"],
  ["send", "send a b c"],
  ["ask", "ask a b c"],
  ["turn", "turn a b c"],
  ["metrics", "metrics a"],
  ["reply", "reply a b c"],
  ["inbox", "inbox a b"],
  ["pending", "pending a"],
  ["mail", "mail a b"],
  ["cancel", "cancel a b"],
  ["mcp", "mcp a"],
  ["pause", "pause a b"],
  ["restart", "restart a b"],
  ["attach", "attach a b"],
  ["logs", "logs a b"],
  ["trust", "trust a"],
  ["save", "save a b"],
  ["saved", "saved a"],
  ["forget", "forget a b"],
  ["project", "project move a b"],
  ["events", "events a b"],
  ["doctor", "doctor a"],
  ["daemon", "daemon status a"],
  ["init", "init a"],
  ["backup", "backup a b"],
  ["demo", "demo a"],
  ["context path", "context path a"],
  ["pi-session", "pi-session a b"],
  ["completion", "completion a b"],
  ["skill", "skill install a b"],
  ["extension", "extension a b"],
];

const shapes = TOO_MANY_WORDS.flatMap(([verb, tooMany]) => {
  const [word] = verb.split(" ");
  return [
    usage(`${verb} --bogus`, new RegExp(`^${word}: there is no option --bogus\\.$`), new RegExp(`^perdure ${word}`)),
    usage(
      tooMany,
      new RegExp(`^${verb}: unexpected argument "\\w"(?: \\(a command comes after --\\))?\\.$`),
      new RegExp(`^perdure ${word}`),
    ),
  ];
});

const lacking = [
  "run",
  "show",
  "history",
  "rename",
  "rename coder",
  "retire",
  "takeover",
  "fork",
  "fork coder",
  "restart",
  "forget",
  "daemon",
  "backup",
  "context",
  "pi-session",
  "skill",
  "extension",
].map((args) =>
  usage(args, new RegExp(`^${args.split(" ")[0]}: (?:[A-Z]+|an argument) is missing\\.$`), /^perdure [\w-]+ \w/),
);

const nothingFollows = ["ls", "show coder", "whoami", "daemon status", "init"].map((args) =>
  usage(`${args} -- true`, /: no arguments may follow --\.$/, /^perdure \w+/),
);

const verbs = [
  usage("--bogus", /^There is no option --bogus\.$/, /perdure help/),
  usage("--josn", /^There is no option --josn\.$/, /--json/),
  usage("-- true", /^no arguments may follow --\.$/, /perdure/),
  usage("rnu", /^There is no verb "rnu"\.$/, /did you mean: perdure run/),
  usage("frobnicate", /There is no verb "frobnicate"/, /^perdure help$/),
  usage("kill coder", /^There is no verb "kill"\.$/, /perdure stop NAME.*perdure down/),
  usage("rm coder", /^There is no verb "rm"\.$/, /perdure retire NAME.*perdure stop NAME/),
  usage("new coder", /^There is no verb "new"\.$/, /perdure run NAME -- COMMAND.*perdure init/),
  usage("add", /^There is no verb "add"\.$/, /a new worker of the fleet: perdure up NAME/),
  usage("list --bogus", /^ls: there is no option --bogus\.$/, /^perdure ls/),
  usage("resume newcomer", /newcomer has never been started/, /^perdure run newcomer -- COMMAND$/),
  missing("start", /^There is no perdure\.toml with workers in /, /perdure init/),
  missing("open nobody-like-that", /no worker/, /^perdure ls$/),
  ...["constructor", "toString", "__proto__"].map((word) =>
    usage(word, new RegExp(`There is no verb "${word}"`), /perdure help/),
  ),
  usage("wait --bogus", /^wait: there is no option --bogus\.$/, /^perdure wait/),
  usage("notify", /^notify: an argument is missing\.$/, /^perdure notify test/),
  usage("notify bogus", /^notify has no "bogus"\.$/, /^perdure notify test$/),
  usage("help rnu", /no verb or topic "rnu"/, /did you mean run/),
  usage("help ls show", /unexpected argument "show"/, /^perdure help/),
  usage("help --bogus", /no verb or topic "--bogus"/, /perdure help/),
  usage("help constructor", /no verb or topic "constructor"/, /perdure help/),
];

const names = [
  usage(["run", "", "--", "true"], /^run: NAME is empty \(""\)\.$/, /^perdure run \[NAME\]/),
  usage(["mail", ""], /^mail: ID is empty \(""\)\.$/, /^perdure mail \[ID\]/),
  usage(["mail", "a b"], /^mail: ID is "a b"; it must be 1 to 128 letters/, /mail --state all/),
  usage(["cancel", ""], /^cancel: ID is empty/, /^perdure cancel ID/),
  usage(["reply", "", "x"], /^reply: ID is empty/, /^perdure reply/),
  usage(["reply", "a b", "x"], /^reply: ID is "a b"/, /mail --state all/),
  usage("send", /^send: NAME is missing\.$/, /^perdure send NAME TEXT/),
  usage(["send", "", ""], /^send: NAME is empty/, /^perdure send NAME TEXT/),
  usage(["send", "coder", ""], /^send: TEXT is empty/, /^perdure send NAME TEXT/),
  usage(["send", "coder", "x", "--supersedes", ""], /^--supersedes is ""; it must be/, /--supersedes note-1/),
  usage(["save", ""], /^save: NAME is empty/, /^perdure save/),
  usage(["forget", ""], /^forget: NAME is empty/, /^perdure forget NAME/),
  usage(["fork", "coder", ""], /^fork: NEW is empty/, /^perdure fork NAME NEW/),
  usage(["run", "two words", "--", "true"], /only ASCII letters/, /^try two-words$/),
  usage(["run", "käthe", "--", "true"], /only ASCII letters/, /^try kathe$/),
  usage(["run", "-x", "--", "true"], /no option -x/, /^perdure run/),
  usage("run x- -- true", /begin and end with a letter or digit/, /^try x$/),
  usage("run a..b -- true", /contains '\.\.'/, /^try a\.b$/),
  usage("run ALL -- true", /that word is reserved/, /^try ALL-1$/),
  usage("run con.txt -- true", /Windows/, /^try con-txt-1$/),
  usage(`run ${"n".repeat(65)} -- true`, /it has 65 characters, at most 64/, /^try n{64}$/),
  usage(["show", "../coder"], /is not a project/, /^try /),
  usage("show a/b/c", /"b\/c" is not a name/, /^try b-c$/),
  usage("show /coder", /"" is not a project: it is empty/, /^try /),
  usage(["show", "\u001b[31m"], /is not a name/, /^try /),
  usage("rename coder me", /"me" is not a name: that word is reserved/, /^try me-1$/),
  usage("rename coder api/other", /"api\/other" is not a name/, /^try api-other$/),
  usage(["whoami", "--as", "a b"], /"a b" is not a name/, /^try a-b$/),
  usage(["whoami", "--as", ""], /"" is not a name: it is empty/, /^try /),
  usage("whoami", /"a b" is not a name/, /^try a-b$/, { env: { PERDURE_NAME: "a b" } }),
  usage("whoami", /"a b" is not a project/, /^try a-b$/, { env: { PERDURE_NAME: "x", PERDURE_PROJECT: "a b" } }),
];

const unknown = [
  ...["show", "history", "retire", "takeover", "events"].map((verb) =>
    missing(`${verb} codr`, /^There is no worker "codr" in project api\.$/, /^did you mean coder\?$/),
  ),
  missing("restart codr", /no worker "codr"/, /did you mean coder/),
  missing("fork codr x", /no worker "codr"/, /did you mean coder/),
  missing("rename codr x", /no worker "codr"/, /did you mean coder/),
  missing("show nobody-like-that", /no worker/, /^perdure ls$/),
  missing("show aip/coder", /no project "aip"/, /did you mean api/),
  missing("run nowhere/coder -- true", /no project "nowhere"/, /perdure project ls/),
  missing("ls", /no project "nowhere"/, /perdure project ls/, { env: { PERDURE_PROJECT: "nowhere" } }),
  missing("show coder", /^This project has no workers yet/, /perdure run coder -- COMMAND/, { cwd: "blank" }),
  ...["show maker", "run maker -- true", "takeover maker", "rename maker x"].map((args) =>
    missing(args, /^api\/maker is now api\/builder\.$/, /use builder/),
  ),
  missing("show gone", /^api\/gone was retired at \d{4}-/, /perdure run gone -- COMMAND/),
  missing("project move nowhere", /No project has the slug or path "nowhere"/, /perdure project ls/),
  missing("project move aip", /"aip"/, /did you mean api/),
  missing(["project", "move", "x".repeat(5000)], /^(?!project\.move:)/, /perdure project/),
];

const run = [
  usage("run coder --", /^There is no command after --\.$/, /^perdure run coder -- COMMAND$/),
  usage("run newcomer", /newcomer has never been started/, /^perdure run newcomer -- COMMAND$/),
  missing(
    "run coder -- no-such-program",
    /^Cannot start "no-such-program": no-such-program is not on PATH\.$/,
    /spelling/,
  ),
  missing("run coder -- ./script", /script is not executable\.$/, /path/),
  missing("run coder -- /no/such", /\/no\/such does not exist\.$/, /path/),
  missing(["run", "coder", "--", ""], /empty/, /spelling/),
  usage(
    ["run", "coder", "--", "true", "x".repeat(100_000), "x".repeat(100_000)],
    /The command line has \d+ bytes/,
    /file/,
  ),
  usage(["run", "coder", "--", "true", ...Array(11).fill("x".repeat(100_000))], /bytes/, /file/),
  row(
    "run sleeper -- true",
    4,
    "held",
    /^api\/sleeper is held by run .*, pid \d+, since \d{4}/,
    /^perdure takeover (api\/)?sleeper$/,
  ),
];

const UUID = "0b6f3a52-6c0e-4c1c-9d3a-6f2f0f3f9a11";

/** The built-in agent stands for every vendor: what is refused here is refused before any program is started. */
const vendors = [
  usage("run x --vendor", /--vendor needs a value|argument missing/, /^perdure run/),
  usage("run x --vendor cluade", /^There is no vendor "cluade"\.$/, /claude/),
  usage(
    `run x --vendor scripted -- --session-id ${UUID}`,
    /^scripted cannot be started with --session-id: perdure chooses the conversation\.$/,
    /--fresh/,
  ),
  usage(`run x --vendor scripted -- --resume=${UUID}`, /cannot be started with --resume/, /adopt/),
  usage("adopt x", /^adopt needs --conversation\.$/, /perdure adopt x --conversation ID/),
  missing("adopt x --conversation 0b6f", /No installed vendor has a conversation "0b6f"/, /perdure adopt --all/),
  missing("adopt x --session 0b6f", /No installed vendor has a conversation "0b6f"/, /perdure adopt --all/),
  usage("send coder", /^send: the text is missing\.$/, /standard input/),
  usage("send coder x --ttl soon", /^--ttl is "soon"; it must be a duration/, /--ttl 10m/),
  usage(["send", "coder", "x", "--id", "../x"], /^--id is "\.\.\/x"; it must be 1 to 128 letters/, /--id note-1/),
  usage("send coder hi there", /^send: unexpected argument "there"\.$/, /^perdure send coder 'hi there' /),
  usage("ask coder are you done", /^ask: unexpected argument/, /^perdure ask coder 'are you done' /),
  usage("send coder x --file script", /^send: TEXT and --file cannot be combined\.$/, /--attach FILE/),
  usage("ask --file script coder x", /^ask: TEXT and --file cannot be combined\.$/, /--attach FILE/),
  usage(["ask", "--file", "script", "how are you?"], /"how are you\?" is not a name/, /^try /),
  usage("ask coder x --timeout 999d", /^--timeout is "999d"; the limit is 24h\.$/, /^--timeout 24h$/),
  usage("inbox --wait 25h", /^--wait is "25h"; the limit is 24h\.$/, /^--wait 24h$/),
  usage(
    ["send", "coder", "x", ...Array.from({ length: 17 }, () => ["--attach", "script"]).flat()],
    /^--attach was given 17 times; the limit is 16\.$/,
    /archive/,
  ),
  missing("send codr x", /no worker "codr"/, /did you mean coder/),
  missing("send coder x --attach /no/such", /There is no file \/no\/such to attach/, /ls -l/),
  missing("ask codr x", /no worker "codr"/, /did you mean coder/),
  missing("reply x", /No message to operator waits for a reply/, /perdure inbox/),
  missing("reply abc x", /There is no message "abc"/, /mail --state all/),
  missing("mail abc", /There is no message "abc"/, /mail --state all/),
  missing("cancel abc", /There is no message "abc"/, /mail --state all/),
  missing("pause codr", /no worker "codr"/, /did you mean coder/),
  missing("inbox codr", /no worker "codr"/, /did you mean coder/),
  usage("pending --bogus", /^pending: there is no option --bogus\.$/, /^perdure pending/),
  missing("adopt nobody-like-that --kept", /no worker/, /^perdure ls$/),
  missing(
    "adopt coder --kept",
    /perdure has no intact copy of the conversation of api\/coder/,
    /perdure history coder/,
  ),
  usage(
    "run x --vendor custom -- true",
    /needs a command, and --new-args and --resume-args/,
    /--new-args='--id \{id\}'/,
  ),
  usage(
    "run x --vendor custom --new-args --id",
    /begins with a dash must be joined with "=": --new-args=/,
    /^perdure run/,
  ),
  usage("fork coder ../x", /"\.\.\/x" is not a name/, /^try /),
  usage("fork coder twin", /^api\/coder has no conversation to branch/, /perdure run twin/),
  missing("save friday", /No worker of this project is in a conversation yet/, /perdure run/),
  missing("forget friday", /There is no saved session "friday" here/, /perdure saved/),
  usage("drill --bogus", /^drill: there is no option --bogus\.$/, /^perdure drill/),
  missing("drill codr", /no worker "codr"/, /did you mean coder/),
  usage(`adopt x --vendor cluade --conversation ${UUID}`, /There is no vendor "cluade"/, /did you mean claude/),
  usage("adopt x --vendor scripted --conversation ../../etc", /session/, /.+/),
  missing(
    `adopt x --vendor scripted --conversation ${UUID}`,
    /^There is no scripted conversation 0b6f3a52-.* in the vendor's config dir\.$/,
    /check the id/,
  ),
  missing(`adopt x --vendor scripted --conversation ${UUID} --cwd /no/such`, /no folder \/no\/such/, /--cwd/),
  row(
    `adopt sleeper --vendor scripted --conversation ${UUID}`,
    3,
    "not-found",
    /no scripted conversation/,
    /check the id/,
  ),
];

const values = [
  ...["0", "x", "1.5", "20001"].map((n) =>
    usage(`history coder --limit ${n}`, /^--limit is ".*"; it must be a whole number from 1 to/, /--limit/),
  ),
  usage("history coder --limit", /^history: --limit needs a value|argument missing/, /^perdure history/),
  usage("history coder --limt 3", /no option --limt; did you mean --limit\?$/, /^perdure history/),
  usage("ls --all=yes", /--all/, /^perdure ls/),
  usage("events --limit 0", /--limit is "0"/, /--limit/),
  usage("events --after x", /--after is "x"/, /--after/),
  usage("takeover sleeper --kill-after 601", /from 0 to 600/, /--kill-after/),
  usage("takeover sleeper --kill-after -1", /--kill-after/, /perdure takeover/),
  usage("project mvoe api", /^project: there is no subcommand "mvoe"\.$/, /did you mean: perdure project move/),
  usage("project move", /^project move: OLD is missing\.$/, /OLD/),
  usage("project ls x", /^project ls: unexpected argument "x"\.$/, /perdure project ls/),
  usage("project toString", /there is no subcommand "toString"/, /perdure project/),
  usage("daemon strat", /^daemon: there is no subcommand "strat"\.$/, /did you mean: perdure daemon start/),
  usage("daemon constructor", /there is no subcommand "constructor"/, /perdure daemon/),
];

const NO_FLEET = /^There is no perdure\.toml with workers in /;

const fleets = [
  missing("up", NO_FLEET, /perdure init/),
  missing("up coder --session friday", /^api\/coder is known, and \S+ does not have it\.$/, /perdure up coder -- true/),
  missing("trust", NO_FLEET, /perdure init/),
  missing("down nobody", /nobody/, /perdure/),
  missing("stop nobody", /nobody/, /perdure/),
  missing("attach coder", /^api\/coder has no pane: it is not up\.$/, /^perdure run coder$/),
  missing("logs coder", /^api\/coder has no pane: it is not up\.$/, /^perdure run coder$/),
  conflict("attach sleeper", /^api\/sleeper runs in a terminal of its own/, /perdure takeover sleeper/),
  usage("stop", /is missing/, /perdure stop/),
  usage("up --sesion friday", /did you mean --session/, /perdure up/),
  usage("logs coder --lines 0", /--lines is "0"/, /--lines/),
  usage("down --kill-after 601", /from 0 to 600/, /--kill-after/),
];

/** Every verb with everything a person or a script gets wrong. */
export const BAD_INPUTS: BadInput[] = [
  ...verbs,
  ...shapes,
  ...lacking,
  ...nothingFollows,
  ...names,
  ...unknown,
  ...run,
  ...vendors,
  ...values,
  ...fleets,
  ...conflictRows,
  ...environmentRows,
];

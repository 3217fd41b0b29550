import { existsSync } from "node:fs";
import { SLOW_VERDICT_WAIT_SECONDS, VERDICT_WAIT_SECONDS } from "../../limits/index.ts";
import { exitCodeOf } from "../../protocol/errors.ts";
import { DAEMON_FILE } from "../../state/paths.ts";
import { ALIVE_FIFO, ENDED_MARK } from "../process/run-fifo.ts";

/** The shell form that this machine can run; the daemon detects it once for all launches. */
export type WrapperForm = "env" | "bash" | "plain";

/** The file in a run's folder that holds the exit code of its program. */
export const EXIT_FILE = "exit";

/** The file that the exit code is written to before it gets its name; a launch makes it, with room, for a disk that is full at the end. */
export const EXIT_FILE_ROOM = { name: `${EXIT_FILE}.tmp`, text: "\n".repeat(8) };

/** The file in a run's folder that says that the wrapper has seen Ctrl-C, TERM or HUP. */
export const INTERRUPTED_MARK = "interrupted";

/**
 * The file in a run's folder that says whether a headless run was in its conversation: `true`, `false` or `pending` in the first
 * line, and below it what the wrapper prints. The daemon writes it, as soon as it knows.
 */
export const VERDICT_FILE = "verdict";

/** The fifo in a run's folder at which a wrapper waits for the verdict. */
export const VERDICT_FIFO = "verdict-wait";

/** The process settings that Node changes at its start and that the program must get back. */
export interface Inherited {
  /** The signals that the caller had ignored, without SIG. */
  ignored: string[];
  /** The caller's soft limit of open files; Node raises it to the hard one. */
  openFiles: number | null;
}

export interface WrapperOptions {
  /** The program is a loader that swallows TERM and HUP, so the signals go to the process that it has loaded as well. */
  loaderSwallowsSignals?: boolean | undefined;
  /** Somebody reads the exit code of a headless run: at the end the wrapper asks whether it was in its conversation. */
  awaitsVerdict?: boolean | undefined;
  /** The daemon has to ask the vendor's own program before it can answer, so the wrapper waits longer. */
  slowVerdict?: boolean | undefined;
  /** The worker's name, which `ps` shows. */
  name?: string | undefined;
  /** The shell was started by a PATH of one folder, and the real one is in a variable: see pane-script.ts. */
  restoresPath?: boolean | undefined;
}

/** Returns the name of the wrapper's process, as `ps` shows it. */
export function processTitle(name: string | undefined): string {
  return name === undefined ? "perdure-run" : `perdure-run ${name}`;
}

export interface WrapperCommand {
  file: string;
  args: string[];
}

// The sequence enters the alternate screen first: leaving it moves the cursor to where it was at the last entry, in tmux even
// after it was left. Entering does nothing while a program is still in it, and otherwise saves the current position.
const RESET = String.raw`\033[?1049h\033[?1049l\033[?25h\033[?1000l\033[?1002l\033[?1003l\033[?1006l\033[?2004l\033[?1004l\033[<u\033[>4;0m\033[?1l\033>\033[0m`;

/**
 * Makes the command of the wrapper, which stays beside a running program: a shell of 1.7 MB that starts the program, passes
 * TERM and HUP on, resets the terminal after a crash and leaves the exit code in a file. All its variables carry a prefix,
 * because assigning to a variable that the caller exported would change it in the program's environment too.
 *
 * $1 is the run folder; the program and its arguments follow.
 */
export function wrapperCommand(
  form: WrapperForm,
  runDir: string,
  command: string[],
  inherited: Inherited,
  options: WrapperOptions = {},
): WrapperCommand {
  const file = form === "bash" ? "/bin/bash" : "/bin/sh";
  const flags = form === "bash" ? ["-p"] : [];
  const text = script(form, inherited, command[0] ?? "", options);
  return {
    file,
    args: [processTitle(options.name), ...flags, "-c", text, "perdure-run", runDir, ...command],
  };
}

export function detectWrapperForm(): WrapperForm {
  const { spawnSync } = process.getBuiltinModule("node:child_process"); // called once per daemon, so not loaded at every start
  const probe = spawnSync(tool("env"), ["--default-signal=INT,QUIT", "/bin/sh", "-c", "exit 0"], { stdio: "ignore" });
  if (probe.status === 0) return "env";
  return existsSync("/bin/bash") ? "bash" : "plain";
}

function script(
  form: WrapperForm,
  { ignored, openFiles }: Inherited,
  program: string,
  { loaderSwallowsSignals = false, awaitsVerdict = false, slowVerdict = false, restoresPath = false }: WrapperOptions,
): string {
  // The plain form runs a trap only after the program ended: it would just keep both alive without a terminal.
  const forwarded = form === "plain" ? [] : ["TERM", "HUP"].filter((signal) => !ignored.includes(signal));
  const restored = ["INT", "QUIT"].filter((signal) => !ignored.includes(signal));
  return [
    ...(restoresPath ? [RESTORE_PATH] : []),
    "perdure_d=$1; shift; perdure_g= perdure_c= perdure_p= perdure_i=",
    HOLD,
    FUNCTIONS,
    ...(loaderSwallowsSignals ? [KILL_LOADED] : []),
    "exec 3<&0",
    `if perdure_fg; then perdure_g=$(${tool("stty")} -g 2>/dev/null); fi`,
    ...(openFiles === null ? [] : [`ulimit -S -n ${openFiles}`]),
    ...ignored.map((signal) => `trap '' ${signal}`),
    // bash 5.2 loses the code of a program that ends while a trap interrupts `wait`, so nothing may trap Ctrl-C there.
    ...restored.map((signal) => `trap ${form === "bash" ? "''" : "perdure_i=1"} ${signal}`),
    ...forwarded.map((signal) => `trap 'perdure_kill ${signal}' ${signal}`),
    ...(form === "plain" || ignored.includes("TSTP") ? [] : ["trap perdure_stop TSTP"]),
    form === "plain" ? FOREGROUND : background(form, restored, program),
    END,
    awaitsVerdict ? judgedEnd(slowVerdict ? SLOW_VERDICT_WAIT_SECONDS : VERDICT_WAIT_SECONDS) : PLAIN_END,
    // The wrapper ends by the signal itself, so that Ctrl-C ends a script or a loop around it, as with any program.
    ...(restored.includes("INT") ? ["[ $perdure_s -ne 130 ] || { trap - INT; kill -INT $$; }"] : []),
    "exit $perdure_s",
  ].join("\n");
}

const RESTORE_PATH = `[ -z "\${perdure_path+x}" ] || { PATH=$perdure_path; unset perdure_path; }`;

/**
 * Opens the fifo of the run, which the program inherits: to other pid namespaces, a run is alive while somebody has it open.
 * A wrapper that comes after such a namespace has given the name away starts nothing.
 */
const HOLD = `if [ -p "$perdure_d/${ALIVE_FIFO}" ]; then exec 9<>"$perdure_d/${ALIVE_FIFO}"; fi
if [ -f "$perdure_d/${ENDED_MARK}" ]; then echo 'perdure: this run was ended before it began; start it again' >&2; exit 4; fi`;

/**
 * perdure_kill keeps a signal that comes before the program runs, and delivers it as soon as the program does.
 * perdure_stop handles Ctrl-Z, which reaches the wrapper and the program at once. The wrapper stops last: a shell that
 * saw it stopped would take the terminal and prompt while the program still restores its screen.
 * perdure_fg tells whether the wrapper is in the terminal's foreground, which alone may change the terminal's modes. An
 * interactive shell makes a foreground group of its own; killed, it leaves that group empty and the terminal to the
 * wrapper. In a pipeline the screen belongs to the last program: `run build -- make | less`.
 */
const FUNCTIONS = String.raw`perdure_kill() {
  perdure_i=1
  if [ "$perdure_c" ]; then kill -$1 $perdure_c; kill -CONT $perdure_c; else perdure_p=$1; fi
} 2>/dev/null
perdure_stop() {
  perdure_n=0
  while [ "$perdure_c" ] && [ $perdure_n -lt 100 ] && read -r perdure_x < /proc/$perdure_c/stat; do
    case ${"${perdure_x##*) }"} in T*) break ;; [ZX]*) return ;; esac
    perdure_n=$((perdure_n + 1)); ${tool("sleep")} 0.02
  done
  [ $perdure_n -eq 100 ] || { trap - TSTP; kill -TSTP $$; trap perdure_stop TSTP; }
} 2>/dev/null
perdure_fg() {
  [ -t 0 ] && [ -t 1 ] || return
  if [ -r /proc/$$/stat ]; then
    read -r perdure_x < /proc/$$/stat; set -- ${"${perdure_x##*) }"}
    [ "$3" = "$6" ] || { [ "$6" = "$perdure_c" ] && ! kill -0 -$6 2>/dev/null; }
  else
    case $(ps -o stat= -p $$) in *+*) true ;; *) false ;; esac
  fi
}`;

/** This perdure_kill signals the loader's children, too. They are read without a fork where the kernel lists them. */
const KILL_LOADED = String.raw`perdure_kill() {
  perdure_i=1
  if [ -z "$perdure_c" ]; then perdure_p=$1; return; fi
  perdure_x=/proc/$perdure_c/task/$perdure_c/children
  if [ -r $perdure_x ]; then read -r perdure_x < $perdure_x; else perdure_x=$(pgrep -P $perdure_c); fi
  kill -$1 $perdure_c $perdure_x; kill -CONT $perdure_c $perdure_x
} 2>/dev/null`;

/** Silences the shell's own stderr meanwhile, because the shell would report a crash in its own words. */
const FOREGROUND = `exec 3<&- 4>&2 2>/dev/null
( exec "$@" 2>&4 4>&- )
perdure_s=$?
exec 2>&4 4>&-`;

/**
 * Starts the program in the background with the caller's stdin, because a shell runs traps only between commands or while
 * it waits. `&` makes a shell ignore INT and QUIT for the child; each form undoes that in its own way.
 */
function background(form: WrapperForm, restored: string[], program: string): string {
  return [
    `${child(form, restored, program)} <&3 3<&- & perdure_c=$!`,
    "exec 3<&-",
    'if [ "$perdure_p" ]; then perdure_kill $perdure_p; fi',
    // Stderr is silenced, because bash would report a crash in its own words.
    "while wait $perdure_c; perdure_s=$?; [ $perdure_s -gt 128 ] && kill -0 $perdure_c; do :; done 2>/dev/null",
    // With bash, TERM or HUP to the whole group may end `wait` when the program is reaped already: wait once more, and
    // keep the signal's code if the program's own is lost.
    "if [ $perdure_s -gt 128 ]; then wait $perdure_c; perdure_x=$?; case $perdure_x in 127 | 255) ;; *) perdure_s=$perdure_x ;; esac; fi 2>/dev/null",
  ].join("\n");
}

function child(form: WrapperForm, restored: string[], program: string): string {
  if (restored.length === 0) return '"$@"';
  if (form === "bash") return `( trap - ${restored.join(" ")}; exec "$@" )`;
  // env takes a first word with "=" for an assignment; a shell in between does not.
  const words = program.includes("=") ? `/bin/sh -c 'exec "$@"' sh "$@"` : '"$@"';
  return `${tool("env")} --default-signal=${restored.join(",")} ${words}`;
}

/**
 * Resets the terminal. A failed program may have left the terminal full-screen: Node resets raw
 * mode when it crashes, and nothing else. Signals are ignored from here on, by stty and mv too: a hang-up comes more than
 * once, and a stop or an end here would leave the program's end unrecorded.
 */
const END = String.raw`trap '' HUP INT QUIT PIPE TERM TSTP TTOU
if [ $perdure_s -ne 0 ] && perdure_fg; then
  perdure_f=$(${tool("stty")} -g 2>/dev/null)
  [ -z "$perdure_g" ] || [ "$perdure_f" = "$perdure_g" ] || ${tool("stty")} "$perdure_g"
  case $TERM in '' | dumb) ;; *) printf '${RESET}' > /dev/tty ;; esac
  [ -z "$perdure_g" ] || [ "$perdure_f" = "$perdure_g" ] || printf '\r\n' > /dev/tty
fi`;

const PRINT = String.raw`while IFS= read -r perdure_l; do printf '%s\n' "$perdure_l" >&2; done`;

/**
 * Marks a program that was interrupted, because some end with 0 then: such an end says nothing of what the program has written. The
 * exit code is written in place of the room that the launch has left for it.
 */
const RECORD_EXIT = String.raw`umask 077; [ -z "$perdure_i" ] || : > "$perdure_d/${INTERRUPTED_MARK}"; printf '%s\n' "$perdure_s" 1<> "$perdure_d/${EXIT_FILE_ROOM.name}" && ${tool("mv")} "$perdure_d/${EXIT_FILE_ROOM.name}" "$perdure_d/${EXIT_FILE}"`;

const PLAIN_END = String.raw`if [ -f "$perdure_d/displaced" ]; then ${PRINT} < "$perdure_d/displaced"; fi
${RECORD_EXIT}`;

/**
 * Ends a headless run whose caller reads the exit code. The program's own code is recorded; what the caller gets is another one
 * if the program succeeded in a wrong conversation. A signal's code is the whole truth already.
 *
 * perdure_daemon tells whether the daemon that wrote its pid and start time still lives: after a SIGKILL its file is still there,
 * and its pid may be another process's. perdure_await waits at a fifo, without a poll, until the daemon or a timer writes to it;
 * the verdict is looked for once more when the fifo is open, so that none is missed. All of it goes on after any error.
 */
function judgedEnd(waitSeconds: number): string {
  return String.raw`perdure_v=
perdure_read() { [ ! -f "$perdure_d/${VERDICT_FILE}" ] || read -r perdure_v < "$perdure_d/${VERDICT_FILE}"; }
perdure_daemon() {
  perdure_x=; read -r perdure_x < "${"${perdure_d%/*/*}"}/${DAEMON_FILE}" || return
  case $perdure_x in '{"pid":'[1-9]*,'"processStarted":"'*) ;; *) return 1 ;; esac
  perdure_p=${"${perdure_x#*:}"}; perdure_p=${"${perdure_p%%,*}"}
  perdure_t=${"${perdure_x#*processStarted*:?}"}; perdure_t=${"${perdure_t%%[!0-9]*}"}
  if [ ! -r /proc/$$/stat ]; then kill -0 $perdure_p; return; fi
  read -r perdure_x < /proc/$perdure_p/stat || return
  set -- ${"${perdure_x##*) }"}
  case $1 in [ZX]) return 1 ;; esac
  [ "${"${20}"}" = "$perdure_t" ]
} 2>/dev/null
perdure_await() {
  ${tool("mkfifo")} "$perdure_d/${VERDICT_FIFO}" || return
  ${tool("sleep")} ${waitSeconds} > "$perdure_d/${VERDICT_FIFO}" & perdure_c=$!
  exec 5< "$perdure_d/${VERDICT_FIFO}"
  [ -f "$perdure_d/${VERDICT_FILE}" ] || read -r perdure_x <&5
  exec 5<&-; kill -KILL $perdure_c; wait $perdure_c
} 2>/dev/null
perdure_read
if [ "$perdure_v" != false ] && [ -f "$perdure_d/displaced" ]; then ${PRINT} < "$perdure_d/displaced"; fi
${RECORD_EXIT}
if [ -z "$perdure_v" ] && [ $perdure_s -le 128 ] && [ ! -f "$perdure_d/displaced" ] && perdure_daemon; then perdure_await; perdure_read; fi
if [ "$perdure_v" = false ]; then { read -r perdure_x; ${PRINT}; } < "$perdure_d/${VERDICT_FILE}"; [ $perdure_s -ne 0 ] || perdure_s=${exitCodeOf("refused")}; fi`;
}

/** Finds a tool of the system, not of the caller's PATH, which is meant for the program. */
function tool(name: string): string {
  return ["/usr/bin", "/bin"].map((folder) => `${folder}/${name}`).find((file) => existsSync(file)) ?? name;
}

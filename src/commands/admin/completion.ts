import { PerdureError } from "../../protocol/errors.ts";
import { own } from "../../util/own.ts";
import type { Command } from "../shared/command.ts";

/**
 * Completion scripts by shell. Each asks `perdure __complete` with the words so far, offers the lines that it prints, and files, folders
 * or commands only where it is told to: no shell falls back to files where a name is wanted. Bash cannot show what a word means.
 */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_perdure() {
  local line tab=$'\\t' cur="\${COMP_WORDS[COMP_CWORD]}"
  [[ $cur == = ]] && cur=
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o filenames 2>/dev/null; line=-f ;;
      :folders) compopt -o filenames 2>/dev/null; line=-d ;;
      :commands) line=-c ;;
      ?*) COMPREPLY+=("\${line%%$tab*}"); continue ;;
      *) continue ;;
    esac
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$line" -- "$cur")
  done < <(perdure __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _perdure perdure
`,
  zsh: `#compdef perdure
_perdure() {
  local line tab=$'\\t'
  local -a candidates shown
  for line in "\${(@f)$(perdure __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      (:*) [[ $PREFIX == --*=* ]] && compset -P '*=' ;;
    esac
    case $line in
      (:files) _files; return ;;
      (:folders) _files -/; return ;;
      (:commands) _command_names -e; return ;;
      (*$tab*) candidates+=("\${line%%$tab*}"); shown+=("\${line/$tab/  -- }") ;;
      (?*) candidates+=("$line"); shown+=("$line") ;;
    esac
  done
  compadd -l -d shown -a candidates
}
if [ "$funcstack[1]" = _perdure ]; then _perdure "$@"; else compdef _perdure perdure; fi
`,
  fish: `function __perdure_complete
  set -l typed (commandline -ct)
  set -l joined (string match -r -- '^--[a-z-]+=' $typed)
  for line in (perdure __complete (commandline -opc)[2..] $typed 2>/dev/null)
    switch $line
      case :files
        printf '%s\\n' "$joined"(__fish_complete_path (string replace -- "$joined" '' $typed))
      case :folders
        printf '%s\\n' "$joined"(__fish_complete_directories (string replace -- "$joined" '' $typed))
      case :commands
        complete -C $typed
      case '*'
        printf '%s\\n' $line
    end
  end
end
complete -c perdure -f -a '(__perdure_complete)'
`,
};

export const completion: Command = {
  summary: "print the completion script of a shell",
  usage: "bash | zsh | fish",
  details: "Verbs, options and their values are completed, and names wherever a name is wanted.",
  subcommands: {
    bash: "source <(perdure completion bash), in ~/.bashrc",
    zsh: "into a file _perdure of a folder in $fpath",
    fish: "into ~/.config/fish/completions/perdure.fish",
  },
  examples: [
    "source <(perdure completion bash)",
    "perdure completion zsh > ~/.zfunc/_perdure",
    "perdure completion fish > ~/.config/fish/completions/perdure.fish",
  ],
  words: [1, 1],

  async run({ words, out }) {
    const shell = words[0] ?? "";
    const script = own(SCRIPTS, shell);
    if (script === undefined) {
      throw new PerdureError("usage", `There are no completions for ${JSON.stringify(shell)}.`, {
        hint: `perdure completion ${Object.keys(SCRIPTS).join(" | ")}`,
      });
    }
    out.result({ shell, script }, () => script);
  },
};

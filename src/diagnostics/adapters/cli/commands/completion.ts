/** The commands `completion` and `__complete`: shell completion. */

import type { Invocation } from '../options.js';
import { UsageError } from '../../../../adapters/cli/usage-error.js';
import { subcommand } from '../options.js';
import { servicesAnswer } from '../../../application/status/service-row.js';
import { QueryError, RunningProxy } from '../running-proxy.js';
import { print } from '../output.js';
import type { Option } from 'commander';
import type { CommandForm } from '../../../../adapters/cli/subcommand.js';

/** The shells that are known. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

type Shell = (typeof SHELLS)[number];

/** Prints what makes a shell complete command lines of this program. */
export const completionCommand = subcommand({
  name: 'completion',
  group: 'Help:',
  description: 'Print the completion script of a shell, which also completes names of Services.',
  summary: 'Print the completion script of a shell.',
  usage: 'bash|zsh|fish',
  request([shell, ...rest]) {
    if (rest.length > 0 || !SHELLS.includes(shell as Shell))
      throw new UsageError(`completion takes bash, zsh or fish, got [${[shell, ...rest].join(' ').trim()}]`);
    return { shell: shell as Shell };
  },
});

/** Asked by those scripts: what may stand where the last of these words begins. */
export const completeCommand = subcommand({
  name: '__complete',
  isHidden: true,
  description: 'Print the completions of the last word.',
  usage: '-- WORD...',
  request: (words) => ({ words }),
});

/** The user waits at a prompt. Milliseconds. */
const TIMEOUT = 1_000;

/**
 * Prints what the last of these words may be, one a line; with names of Services, if a proxy answers.
 * @param commands those of the program
 * @param flags the names of the flags of the proxy
 * @param addressIn where the metrics server is of the proxy that a command line would ask
 */
export async function complete(
  { request }: Invocation<typeof completeCommand>,
  commands: readonly CommandForm[],
  flags: readonly string[],
  addressIn: (words: readonly string[]) => string,
): Promise<number> {
  const { words, takesServices } = candidates(request.words, commands, flags);
  const current = request.words.at(-1) ?? '';
  const names = takesServices ? await namesAt(addressIn([...request.words.slice(0, -1), 'any'])) : [];
  const found = [...words, ...names.filter((name) => name.startsWith(current))];
  await print(found.map((word) => `${word}\n`).join(''));
  return 0;
}

/** In full, as they are unique. None if no proxy answers: an error would stand in the middle of a command line. */
async function namesAt(bindAddress: string): Promise<readonly string[]> {
  try {
    const { services } = await RunningProxy.at(bindAddress).query('/debug/services', servicesAnswer, TIMEOUT);
    return services.map(({ namespace, name }) => `${namespace}/${name}`);
  } catch (error) {
    if (error instanceof QueryError) return [];
    throw error;
  }
}

/** What may stand in a place of a command line. */
interface Candidates {
  readonly words: readonly string[];
  /** A name of a Service may, too. */
  readonly takesServices: boolean;
}

const SERVICES: Candidates = { words: [], takesServices: true };

/**
 * What may stand in the place of the last word, as far as that is written.
 * @param flags the names of the flags of the proxy, which may stand anywhere
 */
export function candidates(
  written: readonly string[],
  commands: readonly CommandForm[],
  flags: readonly string[],
): Candidates {
  const current = written.at(-1) ?? '';
  const before = written.slice(0, -1);
  const command = firstOf(commands, before);
  const options = command?.options ?? [];
  const asked = options.find((option) => isOf(option, before.at(-1)));
  if (asked?.required && /\bNAME\S* of a Service/.test(asked.description)) return SERVICES;
  if (asked?.required) return starting(current, asked.argChoices ?? []);
  if (current.startsWith('-'))
    return starting(current, [...options.flatMap(({ long }) => long ?? []), ...flags, '--help']);
  if (!command) return starting(current, namesOf(commands));
  const { usage } = command;
  if (usage.includes('NAME')) return SERVICES;
  return starting(current, /^[a-z]+(\|[a-z]+)+$/.test(usage) ? usage.split('|') : []);
}

function starting(current: string, words: readonly string[]): Candidates {
  return { words: words.filter((word) => word.startsWith(current)), takesServices: false };
}

/** The command that comes first in these words. */
function firstOf(commands: readonly CommandForm[], words: readonly string[]): CommandForm | undefined {
  const word = words.find((one) => commands.some(({ name }) => name === one));
  return commands.find(({ name }) => name === word);
}

function namesOf(commands: readonly CommandForm[]): readonly string[] {
  return commands.filter(({ isHidden }) => !isHidden).map(({ name }) => name);
}

function isOf({ long, short }: Option, word: string | undefined): boolean {
  return word !== undefined && (word === long || word === short);
}

/**
 * Each asks the program itself, which knows its commands, and asks the proxy for names; files are for what is neither. Behind
 * `--config` the shell lists configuration files and directories.
 */
const SCRIPTS: { readonly [shell in Shell]: string } = {
  bash: `# kubeproxy completion bash > /etc/bash_completion.d/kubeproxy
_kubeproxy() {
  local IFS=$'\\n' current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} type
  if [[ $current == = ]]; then current=
  elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  if [[ $before == --config ]]; then
    compopt +o default -o filenames
    COMPREPLY=($(compgen -d -- "$current"; for type in yaml yml json; do compgen -f -X "!*.$type" -- "$current"; done))
    return
  fi
  COMPREPLY=($(kubeproxy __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _kubeproxy kubeproxy
`,
  // Zsh runs the whole file at the first completion, where it is found by compinit.
  zsh: `#compdef kubeproxy
# kubeproxy completion zsh > "\${fpath[1]}/_kubeproxy"
_kubeproxy() {
  local -a found
  if [[ $words[CURRENT-1] == --config ]] || compset -P '--config='; then
    _path_files -g '*.(yaml|yml|json)(-.)'
    _path_files -/
    return
  fi
  found=(\${(f)"$(kubeproxy __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -a found; else _files; fi
}
if [[ $funcstack[1] == _kubeproxy ]]; then _kubeproxy "$@"; else compdef _kubeproxy kubeproxy; fi
`,
  fish: `# kubeproxy completion fish > ~/.config/fish/completions/kubeproxy.fish
function __kubeproxy
  set -l current (commandline -ct)
  set -l flag (string match -r -- '^--config=' $current)
  if test -n "$flag"; or test (commandline -opc)[-1] = --config
    set -l file (string replace -r -- '^--config=' '' $current)
    string replace -r -- '^' "$flag" (__fish_complete_path "$file" | string match -r '^[^\\t]*(?:/|\\.ya?ml|\\.json)(?=\\t|$)')
    return
  end
  set -l found (kubeproxy __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c kubeproxy -f -a '(__kubeproxy)'
`,
};

/** What a shell reads to complete command lines of this program. */
export function completionScript(shell: Shell): string {
  return SCRIPTS[shell];
}

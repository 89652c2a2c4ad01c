import type { Shell } from '../arguments/completion.js';

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

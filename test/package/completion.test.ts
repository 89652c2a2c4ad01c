import { execa } from 'execa';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceRow } from '../../src/diagnostics/application/status/service-row.js';
import { SHELLS } from '../../src/diagnostics/adapters/cli/commands/completion.js';
import { sampleOf } from '../support/nightly.js';
import { builtProxy } from '../support/program/built-proxy.js';
import { Served } from '../support/http/served.js';

const TYPING = fileURLToPath(new URL('completion/typed-lines.zsh', import.meta.url));

const ZSH = `show() { zle -I; print -r -- "<$BUFFER>"; BUFFER= }; zle -N show; bindkey '^X' show`;

/** How each is started, and told to complete and to print its line. */
const TERMINALS = {
  bash: [
    'bash --norc --noprofile -i',
    `source <(kubeproxy completion bash); bind -x '"\\C-x": echo "<$READLINE_LINE>"; READLINE_LINE='`,
  ],
  'zsh, which finds the file': [
    'zsh -f -i',
    `fpath=($HOME/zsh $fpath); autoload -Uz compinit; compinit -u -D; ${ZSH}`,
  ],
  'zsh, which reads the script': [
    'zsh -f -i',
    `autoload -Uz compinit; compinit -u -D; source <(kubeproxy completion zsh); ${ZSH}`,
  ],
  fish: ['fish -i', `function fish_prompt; end; bind \\cx 'echo "<"(commandline)">"; commandline ""'`],
} as const;

const row = (namespace: string, name: string): ServiceRow => ({
  ...{
    namespace,
    name,
    frontends: ['10.96.0.1:80/TCP'],
    endpointCounts: { used: 1, known: 1 },
    state: 'ok',
    reason: '1 of 1 endpoint is ready',
  },
});

let folder: string;
let served: Served;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'completion-'));
  served = await Served.start({
    '/debug/services': (_, response) => {
      const services = [row('default', 'web'), row('shop', 'cart'), row('shop', 'web')];
      response.end(JSON.stringify({ services, unknownNames: [] }));
    },
  });
  const program = join(folder, 'bin/kubeproxy');
  // Without the last one fish reads all man pages of the machine, in the background.
  for (const one of ['bin', 'zsh', 'fish/completions', 'fish/generated_completions'])
    await mkdir(join(folder, one), { recursive: true });
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${await builtProxy()}' "$@"\n`);
  await chmod(program, 0o755);
  const { HOME: _, ...rest } = process.env;
  environment = {
    ...rest,
    HOME: folder,
    TERM: 'dumb',
    PS1: '',
    PATH: `${folder}/bin:${process.env.PATH}`,
    XDG_CONFIG_HOME: folder,
    XDG_DATA_HOME: folder,
  };
  const scripts = { bash: 'completion.bash', zsh: 'zsh/_kubeproxy', fish: 'fish/completions/kubeproxy.fish' };
  for (const shell of SHELLS) {
    const { stdout } = await execa(program, ['completion', shell]);
    await writeFile(join(folder, scripts[shell]), `${stdout}\n`);
  }
  await writeFile(join(folder, 'manifest.yaml'), '');
  for (const file of ['other.conf', 'other.yml', 'other.json.orig', 'third.txt', 'x y.json'])
    await writeFile(join(folder, file), '');
  await mkdir(join(folder, 'etc.d'));
  await writeFile(join(folder, 'etc.d/proxy.yaml'), '');
  const kind = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';
  await writeFile(join(folder, 'proxy.yaml'), `${kind}metricsBindAddress: ${served.address}\n`);
});

afterAll(async () => {
  await served?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What these lines are after Tab. */
async function typed(shell: keyof typeof TERMINALS, ...lines: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await execa('zsh', ['-f', TYPING, ...TERMINALS[shell], ...lines], {
    cwd: folder,
    env: environment,
    extendEnv: false,
    timeout: 100_000,
  });
  return stdout.split('\n');
}

it.each(Object.keys(TERMINALS) as readonly (keyof typeof TERMINALS)[])(
  'completes commands, options, names of Services, and files, in %s',
  async (shell) => {
    const lines = {
      'kubeproxy expl': 'kubeproxy explain ',
      'kubeproxy services -o j': 'kubeproxy services -o json ',
      'kubeproxy explain --config proxy.yaml shop/c': 'kubeproxy explain --config proxy.yaml shop/cart ',
      'kubeproxy --config proxy.yaml diff a/b sh': 'kubeproxy --config proxy.yaml diff a/b shop/',
      'kubeproxy --config proxy.yaml services ': 'kubeproxy --config proxy.yaml services ',
      'kubeproxy validate mani': 'kubeproxy validate manifest.yaml ',
      'kubeproxy validate thi': 'kubeproxy validate third.txt ',
      // Configuration files end with .yaml, .yml or .json; directories lead to some.
      'kubeproxy --config oth': 'kubeproxy --config other.yml ',
      'kubeproxy --config=oth': 'kubeproxy --config=other.yml ',
      'kubeproxy --config thi': 'kubeproxy --config thi',
      'kubeproxy --config etc': 'kubeproxy --config etc.d/',
      'kubeproxy status --config etc.d/': 'kubeproxy status --config etc.d/proxy.yaml ',
    };
    // What the script defines is in the file, too.
    const some =
      shell === 'zsh, which reads the script' ? sampleOf(Object.entries(lines)) : Object.entries(lines);
    expect(await typed(shell, ...some.map(([line]) => line))).toEqual(some.map(([, completed]) => completed));
  },
);

import { execa, type ResultPromise } from 'execa';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { parse, stringify } from 'yaml';
import type { Host } from '../testbed/host.js';
import { InVain, until } from '../until.js';
import { builtProxy } from './built-proxy.js';
import { syncStateOf } from './status.js';

const metricsAddress = '127.0.0.1:10249';
const healthzAddress = '127.0.0.1:10256';

export type ModeName = 'nftables' | 'iptables' | 'ipvs' | 'userspace';

export interface ProxyOptions {
  /** The node it runs on. */
  readonly host: Host;
  /** Default: nftables. */
  readonly mode?: ModeName;
  /** KubeProxyConfiguration in YAML; mode, addresses to listen on, and the log's format are filled in. */
  readonly config: string;
  /** Objects in YAML, to be there when it starts. */
  readonly objects: string;
  /** The Node to run it with. Default: that of the test. */
  readonly node?: string;
  /** Over the environment of the test. */
  readonly env?: Readonly<Record<string, string>>;
  /** The host is a guest, where all takes longer and which shares a processor with others: it has minutes to program what it is given. */
  readonly slow?: boolean;
}

/**
 * The real program on a node of the test bed, reading its objects from a folder of manifests.
 *
 * started → (change)* → stopped or killed → (start again on the same folder)* → removed.
 */
export class ProxyProcess {
  private child: ResultPromise | undefined;
  private output = '';

  private constructor(
    private readonly options: ProxyOptions,
    private readonly folder: string,
  ) {}

  /** Starts the proxy; returns when everything is programmed. */
  static async start(options: ProxyOptions): Promise<ProxyProcess> {
    const proxy = new ProxyProcess(options, await mkdtemp(`${tmpdir()}/kubeproxy-test-`));
    try {
      await mkdir(proxy.manifests);
      await writeFile(`${proxy.folder}/config.yaml`, configurationText(options));
      await proxy.place(options.objects);
      await proxy.startAgain();
      return proxy;
    } catch (error) {
      await proxy.remove();
      throw error;
    }
  }

  /** All that the proxy has logged, all starts together. */
  get log(): string {
    return this.output;
  }

  /** Starts the proxy on what the last one left, in another mode if one is named; returns when everything is programmed. */
  async startAgain(mode?: ModeName): Promise<void> {
    if (mode) await writeFile(`${this.folder}/config.yaml`, configurationText({ ...this.options, mode }));
    const [file, ...args] = await this.commandLine();
    const { env } = this.options;
    const child = execa(file!, args, { reject: false, buffer: false, all: true, stdin: 'ignore', env });
    child.all!.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.child = child;
    await this.settled(0);
  }

  /** Runs it with --once to its end; rejects when it could not program everything. */
  async once(): Promise<void> {
    const [file, ...args] = await this.commandLine('--once');
    await execa(file!, args);
  }

  /** Runs a command with the proxy's own flags, beside it, and answers what it prints and its exit code. */
  async answer(
    ...words: readonly string[]
  ): Promise<{ readonly stdout: string; readonly exitCode?: number }> {
    const [file, ...args] = await this.commandLine(...words);
    return execa(file!, args, { reject: false });
  }

  /** Replaces the whole state of the cluster; returns when the change is programmed. The state must differ. */
  async change(objects: string): Promise<void> {
    let before = 0;
    // Rules that another program has damaged may keep an answer from this host.
    const query = async (): Promise<boolean> => {
      before = (await syncStateOf(this.options.host)).appliedEvents;
      return true;
    };
    await until('the proxy responds', query, this.patience);
    await this.place(objects);
    await this.settled(before);
  }

  /** Puts a text into a manifest in one step, and does not wait for anything. */
  async place(text: string, manifest = 'objects.yaml'): Promise<void> {
    await writeFile(`${this.folder}/next`, text);
    await rename(`${this.folder}/next`, `${this.manifests}/${manifest}`);
  }

  /** Returns once the proxy has met more than `before` object events, and has programmed them all. */
  async settled(before: number): Promise<void> {
    await until(
      'the proxy has programmed its objects',
      async () => {
        if (this.child && this.child.exitCode !== null)
          throw new InVain(`the proxy ended with ${this.child.exitCode}:\n${this.output}`);
        const state = await syncStateOf(this.options.host);
        if (state.idle && state.appliedEvents > before) return true;
        throw new Error(`${JSON.stringify(state)}:\n${this.output}`);
      },
      this.patience,
    );
  }

  /** Ends the proxy with a signal; the exit code, or the name of the signal that killed it. */
  async stop(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL' = 'SIGTERM'): Promise<number | string> {
    const child = this.child;
    if (!child) throw new Error('the proxy is not running');
    child.kill(signal);
    const late = setTimeout(() => child.kill('SIGKILL'), this.patience);
    const { exitCode, signal: killedBy } = await child;
    clearTimeout(late);
    this.child = undefined;
    return exitCode ?? killedBy ?? 'unknown';
  }

  /** Ends it by force if it still runs, and removes its files. The rules stay. */
  async remove(): Promise<void> {
    if (this.child) await this.stop('SIGKILL');
    await rm(this.folder, { recursive: true, force: true });
  }

  private async commandLine(...more: readonly string[]): Promise<string[]> {
    const { host, node = process.execPath } = this.options;
    return host.commandLine([
      node,
      await builtProxy(),
      ...['--config', `${this.folder}/config.yaml`],
      ...['--manifests', this.manifests],
      ...more,
    ]);
  }

  /** Milliseconds, for what only ends a failure. */
  private get patience(): number {
    return this.options.slow ? 300_000 : 100_000;
  }

  private get manifests(): string {
    return `${this.folder}/manifests`;
  }
}

function configurationText({ config, mode = 'nftables' }: ProxyOptions): string {
  const configuration = parse(config) as Record<string, unknown>;
  return stringify({
    ...configuration,
    mode,
    metricsBindAddress: metricsAddress,
    healthzBindAddress: healthzAddress,
    logging: { ...(configuration.logging as object), format: 'json' },
    // A test may lack the right to lower it.
    oomScoreAdj: 0,
  });
}

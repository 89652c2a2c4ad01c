import { execa, type ResultPromise } from 'execa';
import { until } from '../until.js';
import type { Host } from './host.js';

/** Another program that owns the tables `kube-proxy` while it runs: the kernel rejects every transaction of ours on them. */
export class TableOwner {
  private constructor(private readonly process: ResultPromise<{ stdin: 'pipe'; reject: false }>) {}

  static async start(host: Host): Promise<TableOwner> {
    const [file, ...args] = host.commandLine(['nft', '-i']);
    const process = execa(file!, args, { stdin: 'pipe', reject: false });
    for (const family of ['ip', 'ip6'])
      process.stdin.write(`add table ${family} kube-proxy { flags owner; }\n`);
    await until('the tables are owned', async () =>
      (await host.run(['nft', 'list', 'tables'])).includes('table ip6 kube-proxy'),
    );
    return new TableOwner(process);
  }

  /** The tables go with it. */
  async stop(): Promise<void> {
    this.process.stdin.end();
    await this.process;
  }
}

import { execa, type ResultPromise } from 'execa';
import { createInterface } from 'node:readline';
import type { Host } from './host.js';
import { until } from '../until.js';

/** A chain, map or set of a table, as `nft -a list table` shows it. */
export interface TableObject {
  readonly kind: 'chain' | 'map' | 'set';
  readonly name: string;
  /** Chains: hook and policy first, then rules, each with its handle. Maps and sets: type and flags. */
  readonly lines: readonly string[];
  /**
   * Of maps and sets, sorted, for their order in the kernel means nothing. None of dynamic ones: those elements come
   * from packets, and their time left differs at every look.
   */
  readonly elements: readonly string[];
  readonly handle: string;
}

const opening = /^\t(chain|map|set) (\S+) \{ # handle (\d+)$/;

/** The objects of `table FAMILY kube-proxy`, by kind and name; none when the table is not there. */
export async function readTable(host: Host, family: 'ip' | 'ip6' = 'ip'): Promise<Map<string, TableObject>> {
  const listing = await host
    .run(['nft', '-a', 'list', 'table', family, 'kube-proxy'])
    .catch((error: unknown) => {
      if (/No such file or directory/.test(String(error))) return '';
      throw error;
    });
  const objects = new Map<string, TableObject>();
  let current: { kind: TableObject['kind']; name: string; handle: string; body: string[] } | undefined;
  for (const line of listing.split('\n')) {
    const [, kind, name, handle] = opening.exec(line) ?? [];
    if (kind) current = { kind: kind as TableObject['kind'], name: name!, handle: handle!, body: [] };
    else if (line === '\t}' && current) {
      objects.set(`${current.kind} ${current.name}`, tableObject(current));
      current = undefined;
    } else current?.body.push(line.trim());
  }
  return objects;
}

function tableObject(found: {
  kind: TableObject['kind'];
  name: string;
  handle: string;
  body: readonly string[];
}): TableObject {
  const { kind, name, handle, body } = found;
  const start = kind === 'chain' ? -1 : body.findIndex((line) => line.startsWith('elements = {'));
  if (start < 0) return { kind, name, handle, lines: body, elements: [] };
  const lines = body.slice(0, start);
  return { kind, name, handle, lines, elements: lines.some(isDynamic) ? [] : elementsOf(body.slice(start)) };
}

const isDynamic = (line: string): boolean => /^flags .*dynamic/.test(line);

function elementsOf(lines: readonly string[]): string[] {
  const list = lines.join(' ').replace(/^elements = \{|\}$/g, '');
  return list
    .split(',')
    .map((element) => element.trim())
    .sort();
}

/** What stands in the objects, without the handles, which differ between two times of writing the same. */
export function contentsOf(objects: ReadonlyMap<string, TableObject>): Record<string, object> {
  const contents = [...objects].map(([key, { lines, elements }]): [string, object] => [
    key,
    { lines: lines.map((line) => line.replace(/ # handle \d+$/, '')), elements },
  ]);
  return Object.fromEntries(contents);
}

/**
 * Listens to what the kernel says about changed rules (`nft monitor`).
 * Every committed transaction makes a new generation, whoever wrote it; packets that fill a set make none.
 */
export class RulesetMonitor {
  private readonly lines: string[] = [];
  private sentinels = 0;

  private constructor(private readonly child: ResultPromise) {
    createInterface({ input: child.stdout! }).on('line', (line) => this.lines.push(line));
  }

  static async start(host: Host): Promise<RulesetMonitor> {
    const [file, ...args] = host.commandLine(['nft', 'monitor']);
    const monitor = new RulesetMonitor(execa(file!, args, { reject: false, buffer: false, stdin: 'ignore' }));
    await until('nft monitor listens', async () => {
      await monitor.mark(host);
      return monitor.lines.some((line) => line.includes('generation'));
    });
    await monitor.drain(host);
    monitor.lines.length = 0;
    return monitor;
  }

  /** What has been written since the start, with one line `# new generation …` for each transaction. */
  async written(host: Host): Promise<readonly string[]> {
    const before = await this.drain(host);
    return this.lines.slice(0, before);
  }

  async stop(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.child;
  }

  /** Waits until all that was written before this call has been read; answers the number of lines of it. */
  private async drain(host: Host): Promise<number> {
    const sentinel = `sentinel-${++this.sentinels}`;
    await this.mark(host, sentinel);
    const deletion = `delete table inet ${sentinel}`;
    await until('nft monitor catches up', () =>
      Promise.resolve(this.lines.some((line) => line === deletion)),
    );
    return this.lines.indexOf(`add table inet ${sentinel}`);
  }

  private async mark(host: Host, name = 'sentinel'): Promise<void> {
    await host.run(['nft', '-f', '-'], `add table inet ${name}`);
    await host.run(['nft', '-f', '-'], `delete table inet ${name}`);
  }
}

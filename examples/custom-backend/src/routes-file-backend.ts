import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type {
  ApplyResult,
  Backend,
  ForwardingChange,
  ForwardingEntry,
  Frontend,
  FrontendClash,
  IpFamily,
  NodeNetwork,
  ServicePortKey,
  VerificationKind,
  VerifyResult,
} from 'kube-proxy-ts';

const NOTHING: ApplyResult = { written: 0, failed: [], conflicts: [] };

/** Keeps a file that says where each address of a service leads. Nobody ever reads half of it: it is replaced in one step. */
export class RoutesFileBackend implements Backend {
  readonly mode = 'routes-file';
  private readonly entries = new Map<ServicePortKey, ForwardingEntry>();
  private readonly lines = new Map<ServicePortKey, readonly string[]>();
  private node: NodeNetwork | undefined;

  constructor(
    readonly family: IpFamily,
    private readonly path: string,
  ) {}

  async start(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<ApplyResult> {
    this.entries.clear();
    this.lines.clear();
    this.node = node;
    for (const entry of entries) this.take(entry.key, entry);
    // What a former process left is kept when it is right.
    return (await this.present()) === this.text()
      ? { ...NOTHING, conflicts: this.conflicts() }
      : this.write();
  }

  async apply(changes: readonly ForwardingChange[], node: NodeNetwork): Promise<ApplyResult> {
    const before = this.text();
    const moved = node !== this.node;
    this.node = node;
    for (const { key, entry } of changes) this.take(key, entry);
    if (moved) for (const entry of this.entries.values()) this.take(entry.key, entry);
    return this.text() === before ? { ...NOTHING, conflicts: this.conflicts() } : this.write();
  }

  async verify(how: VerificationKind): Promise<VerifyResult> {
    if (how === 'glance') return { ...NOTHING, compared: false };
    const right = (await this.present()) === this.text();
    return { ...(right ? NOTHING : await this.write()), compared: true };
  }

  async cleanup(): Promise<void> {
    await rm(this.path, { force: true });
  }

  async close(): Promise<void> {}

  private take(key: ServicePortKey, entry: ForwardingEntry | undefined): void {
    if (entry) {
      this.entries.set(key, entry);
      this.lines.set(
        key,
        entry.frontends.flatMap((frontend) => this.route(entry, frontend)),
      );
    } else {
      this.entries.delete(key);
      this.lines.delete(key);
    }
  }

  /** No line for a frontend that leads nowhere: whoever reads the file refuses what is not in it. */
  private route(
    { endpoints, name, affinitySeconds }: ForwardingEntry,
    frontend: Frontend,
  ): readonly string[] {
    const list = (frontend.policy === 'Local' ? endpoints.local : endpoints.cluster) ?? [];
    if (frontend.outcome !== 'forward' || list.length === 0) return [];
    const to = list.map(({ text }) => text).join(',');
    const sticky = affinitySeconds > 0 ? ` sticky=${affinitySeconds}` : '';
    return this.addressesOf(frontend).map(
      (address) => `${address}:${frontend.port}/${name.protocol} ${to}${sticky}`,
    );
  }

  private addressesOf({ address }: Frontend): readonly string[] {
    const addresses = address === undefined ? this.node!.nodePortIPs : [address];
    if (addresses === 'all') return ['*'];
    return addresses.map((text) => (text.includes(':') ? `[${text}]` : text));
  }

  /** In order of service ports, so that the first line of an address counts, whoever came first. */
  private text(): string {
    const keys = [...this.lines.keys()].sort();
    return keys.flatMap((key) => this.lines.get(key)!.map((line) => `${line}\n`)).join('');
  }

  private conflicts(): readonly FrontendClash[] {
    const holders = new Map<string, ServicePortKey>();
    return [...this.lines.keys()].sort().flatMap((key) =>
      this.lines.get(key)!.flatMap((line) => {
        const frontend = line.slice(0, line.indexOf(' '));
        const holder = holders.get(frontend);
        if (holder === undefined) holders.set(frontend, key);
        return holder === undefined ? [] : [{ frontend, holder, loser: key }];
      }),
    );
  }

  private async write(): Promise<ApplyResult> {
    await writeFile(`${this.path}.new`, this.text());
    await rename(`${this.path}.new`, this.path);
    return { written: 1, failed: [], conflicts: this.conflicts() };
  }

  private async present(): Promise<string | undefined> {
    return readFile(this.path, 'utf8').catch(() => undefined);
  }
}

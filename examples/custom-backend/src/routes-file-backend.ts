import type {
  ApplyResult,
  Backend,
  ForwardingChange,
  ForwardingEntry,
  IpFamily,
  NodeNetwork,
  VerificationKind,
  VerifyResult,
} from 'kube-proxy-ts';
import type { RoutesFile } from './routes-file.js';
import { newRoutes, routesOf, textOf } from './routes.js';

/** Keeps a file that says where each address of a service leads. All that a backend must do, done by hand. */
export class RoutesFileBackend implements Backend {
  readonly mode = 'routes-file';
  private routes = newRoutes();

  constructor(
    readonly family: IpFamily,
    private readonly file: RoutesFile,
  ) {}

  /** What an earlier process left is kept if it is right. */
  start(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<ApplyResult> {
    this.routes = newRoutes();
    return this.apply(
      Array.from(entries, (entry) => ({ key: entry.key, entry })),
      node,
    );
  }

  async apply(changes: readonly ForwardingChange[], node: NodeNetwork): Promise<ApplyResult> {
    for (const { key, entry } of changes)
      this.routes.replace(key, entry && routesOf(entry, node), () => undefined);
    return { written: await this.write(), failed: [] };
  }

  async verify(how: VerificationKind): Promise<VerifyResult> {
    const compared = how === 'full';
    return { compared, written: compared ? await this.write() : 0, failed: [] };
  }

  rulesDependOn(before: NodeNetwork, after: NodeNetwork): boolean {
    return String(before.nodePortIPs) !== String(after.nodePortIPs);
  }

  cleanup(): Promise<void> {
    return this.file.remove();
  }

  async close(): Promise<void> {}

  private async write(): Promise<number> {
    const text = textOf(this.routes);
    if ((await this.file.read()) === text) return 0;
    await this.file.write(text);
    return 1;
  }
}

import {
  Reconciler,
  type Backend,
  type DesiredState,
  type Driver,
  type ForwardingEntry,
  type IpFamily,
  type KernelSnapshot,
  type Logger,
  type NodeNetwork,
  type ServicePortKey,
  type StartOptions,
  type WriteResult,
  type WriteWatch,
} from 'kube-proxy-ts';
import type { RoutesFile } from './routes-file.js';
import { newRoutes, routesOf, textOf, type Route } from './routes.js';

type Routes = readonly Route[];
/** Whether anything is different. */
interface Change {
  isOne: boolean;
}

/** The same file, with the reconciler that all modes share: it blames, retries, verifies on a sign, and repairs. */
export function reconciledRoutesFile(family: IpFamily, file: RoutesFile, logger: Logger): Backend {
  return new Reconciler({ mode: 'routes-file', family }, new RoutesDriver(file), logger);
}

class RoutesDriver implements Driver<Routes, Change> {
  readonly watch: FileWatch;
  desired = new DesiredRoutes();
  private node!: NodeNetwork;

  constructor(private readonly file: RoutesFile) {
    this.watch = new FileWatch(file);
  }

  prepare(_: unknown, node: NodeNetwork, start?: StartOptions): void {
    if (start) this.desired = new DesiredRoutes();
    this.node = node;
  }

  rulesDependOn(before: NodeNetwork, after: NodeNetwork): boolean {
    return String(before.nodePortIPs) !== String(after.nodePortIPs);
  }

  compile(entry: ForwardingEntry): Routes {
    return routesOf(entry, this.node);
  }

  async commit({ isOne }: Change): Promise<WriteResult> {
    if (!isOne) return { written: 0 };
    await this.watch.ours(() => this.file.write(this.desired.text));
    return { written: 1 };
  }

  async read(): Promise<KernelSnapshot<Routes>> {
    const actual = await this.file.read();
    return { repair: () => this.commit({ isOne: actual !== this.desired.text }) };
  }

  cleanup(): Promise<void> {
    return this.file.remove();
  }

  async close(): Promise<void> {}
}

class DesiredRoutes implements DesiredState<Routes, Change> {
  private readonly routes = newRoutes();

  get text(): string {
    return textOf(this.routes);
  }

  rules(owner: ServicePortKey): Routes | undefined {
    return this.routes.of(owner);
  }

  replace(owner: ServicePortKey, rules: Routes | undefined, change?: Change): void {
    this.routes.replace(owner, rules, () => {
      if (change) change.isOne = true;
    });
  }

  newChange(): Change {
    return { isOne: false };
  }
}

/** Another version of the file than we wrote means that another program did. */
class FileWatch implements WriteWatch {
  readonly seesEveryWrite = true;
  private known: string | undefined;
  private count = 0;

  constructor(private readonly file: RoutesFile) {}

  async ours<T>(write: () => Promise<T>): Promise<T> {
    await this.epoch();
    const outcome = await write();
    this.known = await this.file.version();
    return outcome;
  }

  async epoch(): Promise<number> {
    const version = await this.file.version();
    if (version !== this.known) this.count++;
    this.known = version;
    return this.count;
  }
}

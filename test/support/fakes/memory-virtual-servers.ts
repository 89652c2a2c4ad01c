import {
  realServerKey,
  virtualServerKey,
  type CountedRealServer,
  type VirtualServer,
  type VirtualServerId,
} from '../../../src/domain/ipvs/virtual-server.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type {
  IpvsTimeouts,
  ListedVirtualServer,
  StepOutcome,
  VirtualServers,
  VirtualServerStep,
} from '../../../src/adapters/ipvs/ipvs-kernel.js';
import { rejectionOf } from './refusal-of.js';

interface Server {
  readonly server: VirtualServer;
  readonly reals: Map<string, CountedRealServer>;
}

/** IPVS in memory. It refuses what the kernel rejects, and what `refuse` selects. */
export class MemoryVirtualServers implements VirtualServers {
  readonly schedulers = new Set(['rr', 'sh', 'mh']);
  timeouts: IpvsTimeouts | undefined;
  lists = 0;
  /** How many lists of steps were to be taken. */
  applied = 0;
  private readonly servers = new Map<string, Server>();
  private refuses: (step: VirtualServerStep) => string | undefined = () => undefined;
  private outage: Error | undefined;

  /** @param journal every step that was done, in words: `add-real 10.96.0.1:80/TCP 10.244.1.5:8080 1` */
  constructor(readonly journal: string[] = []) {}

  /** From now on refuses steps for which this gives a reason. */
  refuse(reason: (step: VirtualServerStep) => string | undefined): void {
    this.refuses = reason;
  }

  /** Every call fails with this until it is undefined again. */
  fail(error: Error | undefined): void {
    this.outage = error;
  }

  /** Another program does this: not in the journal, and refused only as the kernel does. */
  tamper(...steps: readonly VirtualServerStep[]): void {
    for (const step of steps) {
      const reason = this.change(step);
      if (reason !== undefined) throw new Error(`${wordsOf(step)}: ${reason}`);
    }
  }

  /** Gives a real server connections. */
  connect(server: string, real: string, activeConnections: number, inactiveConnections = 0): void {
    const { reals } = this.servers.get(server)!;
    reals.set(real, { ...reals.get(real)!, activeConnections, inactiveConnections });
  }

  /** Real servers and their weights by virtual server. */
  get weights(): Readonly<Record<string, Readonly<Record<string, number>>>> {
    const entries = [...this.servers].map(([key, { reals }]) => [
      key,
      Object.fromEntries([...reals].map(([real, { weight }]) => [real, weight])),
    ]);
    return Object.fromEntries(entries) as Record<string, Record<string, number>>;
  }

  get all(): readonly { readonly server: VirtualServer; readonly reals: readonly CountedRealServer[] }[] {
    return [...this.servers.values()].map(({ server, reals }) => ({ server, reals: [...reals.values()] }));
  }

  async list(family: IpFamily, signal?: AbortSignal): Promise<readonly ListedVirtualServer[]> {
    this.check();
    signal?.throwIfAborted();
    this.lists++;
    return Promise.resolve(
      [...this.servers.values()]
        .filter(({ server }) => server.address.includes(':') === (family === 'IPv6'))
        .map(({ server, reals }) => ({ ...server, realServers: [...reals.values()] })),
    );
  }

  async find(id: VirtualServerId): Promise<ListedVirtualServer | undefined> {
    this.check();
    const found = this.servers.get(virtualServerKey(id));
    return Promise.resolve(found && { ...found.server, realServers: [...found.reals.values()] });
  }

  async realServers(server: VirtualServerId): Promise<readonly CountedRealServer[]> {
    this.check();
    return Promise.resolve([...(this.servers.get(virtualServerKey(server))?.reals.values() ?? [])]);
  }

  async apply(steps: readonly VirtualServerStep[]): Promise<readonly StepOutcome[]> {
    this.applied++;
    this.check();
    return Promise.resolve(
      steps.map((step) => {
        const reason = this.refuses(step) ?? this.change(step);
        if (reason !== undefined) return rejectionOf(wordsOf(step), reason);
        this.journal.push(wordsOf(step));
        return undefined;
      }),
    );
  }

  async hasScheduler(name: string): Promise<boolean> {
    this.check();
    return Promise.resolve(this.schedulers.has(name));
  }

  async setTimeouts(timeouts: IpvsTimeouts): Promise<void> {
    this.check();
    this.timeouts = timeouts;
    return Promise.resolve();
  }

  close(): void {
    this.outage = new Error('IPVS in memory is closed');
  }

  private check(): void {
    if (this.outage) throw this.outage;
  }

  /** Takes the step. @returns the reason if the kernel would refuse it */
  private change(step: VirtualServerStep): string | undefined {
    const key = virtualServerKey(step.server);
    const present = this.servers.get(key);
    if (step.kind === 'add') {
      if (present) return 'EEXIST';
      if (!this.schedulers.has(step.server.scheduler)) return 'ENOENT';
      this.servers.set(key, { server: step.server, reals: new Map() });
      return undefined;
    }
    if (!present) return 'ESRCH';
    if ('real' in step) return changeReal(present.reals, step);
    if (step.kind === 'delete') {
      this.servers.delete(key);
      return undefined;
    }
    if (!this.schedulers.has(step.server.scheduler)) return 'ENOENT';
    this.servers.set(key, { server: step.server, reals: present.reals });
    return undefined;
  }
}

function changeReal(
  reals: Map<string, CountedRealServer>,
  step: Extract<VirtualServerStep, { readonly real: unknown }>,
): string | undefined {
  const key = realServerKey(step.real);
  const present = reals.get(key);
  if (step.kind === 'delete-real') return reals.delete(key) ? undefined : 'ENOENT';
  if (Boolean(present) !== (step.kind === 'set-real')) return present ? 'EEXIST' : 'ENOENT';
  reals.set(key, { activeConnections: 0, inactiveConnections: 0, ...present, ...step.real });
  return undefined;
}

function wordsOf(step: VirtualServerStep): string {
  const words = [step.kind, virtualServerKey(step.server)];
  if (step.kind === 'add' || step.kind === 'set') words.push(step.server.scheduler);
  if ('real' in step) words.push(realServerKey(step.real));
  if (step.kind === 'add-real' || step.kind === 'set-real') words.push(String(step.real.weight));
  return words.join(' ');
}

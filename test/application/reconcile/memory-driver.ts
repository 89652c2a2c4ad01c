import { endpointPlace } from '../../../src/domain/model/endpoint.js';
import type { StartOptions } from '../../../src/application/ports/backend.js';
import {
  RefusedError,
  type Driver,
  type ReadOptions,
  type WriteResult,
} from '../../../src/application/ports/driver.js';
import type { WriteWatch } from '../../../src/application/ports/write-watch.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import {
  displayName,
  type ServicePortKey,
  type ServicePortName,
} from '../../../src/domain/model/service-port-name.js';
import type { AdoptedRules } from '../../../src/domain/reconcile/adopted-rules.js';
import type { FrontendConflict } from '../../../src/domain/reconcile/claims.js';
import type { DesiredState } from '../../../src/domain/reconcile/desired-state.js';
import { HeldParts, type HeldPart, type Part } from '../../../src/domain/reconcile/held-parts.js';

/** What the kernel of this driver holds under a key: `label: value`. */
interface Line extends Part {
  readonly value: string;
}

type Lines = readonly Line[];
type Change = Map<string, HeldPart<Line> | undefined>;

/** How the kernel refuses a value: without a name, or naming its service port. */
export type Refusal = 'anonymous' | 'named' | undefined;

/** A kernel that is a map. It outlives drivers. */
export class MemoryKernel {
  readonly lines = new Map<string, string>();
  /** Asked for each line that is written. */
  refuse: (key: string, value: string) => Refusal = () => undefined;
  /** With `by line`, each line is a step of its own: those that are refused are left, the others written. */
  writes: 'at once' | 'by line' = 'at once';
  epoch: number | undefined = 1;
  reads = 0;
  commits = 0;

  /** Another program writes. */
  tamper(change: (lines: Map<string, string>) => void): void {
    change(this.lines);
    if (this.epoch !== undefined) this.epoch++;
  }
}

/** The smallest driver that uses everything that the reconciler offers. */
export class MemoryDriver implements Driver<Lines, Change, ReadonlyMap<string, string>> {
  readonly mode = 'memory';
  readonly family = 'IPv4';
  readonly watch: WriteWatch;
  desired = new DesiredLines();

  constructor(private readonly kernel: MemoryKernel) {
    this.watch = {
      seesEveryWrite: true,
      ours: (write) => write(),
      epoch: () => Promise.resolve(kernel.epoch),
    };
  }

  begin(_node: NodeNetwork, _options: StartOptions): void {
    this.desired = new DesiredLines();
  }

  compile({ name, frontends, endpoints }: ForwardingEntry): Lines {
    if (name.name.startsWith('broken')) throw new Error('a name that no rule may have');
    return frontends.map(({ address = 'node', port }) => {
      const key = `${address}:${port}`;
      const to = (endpoints.cluster ?? []).map(endpointPlace).join(',');
      return { key, frontend: key, value: `${displayName(name)}: ${to}` };
    });
  }

  newChange(): Change {
    return new Map();
  }

  async commit(change: Change): Promise<WriteResult> {
    return this.write(change);
  }

  async read({ signal }: ReadOptions = {}): Promise<ReadonlyMap<string, string>> {
    this.kernel.reads++;
    await Promise.resolve();
    signal?.throwIfAborted();
    return new Map(this.kernel.lines);
  }

  async repair(actual: ReadonlyMap<string, string>): Promise<WriteResult> {
    const change: Change = new Map([...actual.keys()].map((key) => [key, undefined]));
    for (const held of this.desired.lines.held())
      if (actual.get(held.part.key) === held.part.value) change.delete(held.part.key);
      else change.set(held.part.key, held);
    return this.write(change);
  }

  adopted(actual: ReadonlyMap<string, string>): AdoptedRules<Lines> {
    const { lines } = this.desired;
    const labelOf = (value: string) => value.slice(0, value.indexOf(': '));
    return {
      label: (name: ServicePortName) => displayName(name),
      labels: () => new Set([...actual.values()].map(labelOf)),
      rules(label: string, owner: ServicePortKey) {
        const own = [...actual].filter(
          ([key, value]) => labelOf(value) === label && (lines.holder(key) ?? owner) === owner,
        );
        return own.length > 0 ? own.map(([key, value]) => ({ key, frontend: key, value })) : undefined;
      },
    };
  }

  async cleanup(): Promise<void> {
    this.kernel.lines.clear();
  }

  async close(): Promise<void> {}

  private write(change: Change): WriteResult {
    const { kernel } = this;
    kernel.commits++;
    const failed: { key: ServicePortKey; reason: string }[] = [];
    const culprits = new Map<ServicePortKey, string>();
    const suspects = new Set<ServicePortKey>();
    let isRefused = false;
    for (const [key, held] of change) {
      if (!held) continue;
      suspects.add(held.owner);
      const refusal = kernel.refuse(key, held.part.value);
      if (!refusal) continue;
      isRefused = true;
      failed.push({ key: held.owner, reason: 'EINVAL' });
      if (refusal === 'named') culprits.set(held.owner, 'EINVAL');
      if (kernel.writes === 'by line') change.delete(key);
    }
    if (isRefused && kernel.writes === 'at once')
      throw new RefusedError(new Error('EINVAL'), culprits, suspects, false);
    for (const [key, held] of change)
      if (held) kernel.lines.set(key, held.part.value);
      else kernel.lines.delete(key);
    return { written: change.size, failed };
  }
}

class DesiredLines implements DesiredState<Lines, Change> {
  readonly lines = new HeldParts<Line>((one, other) => one.value === other.value);

  rules(owner: ServicePortKey): Lines | undefined {
    return this.lines.of(owner);
  }

  replace(owner: ServicePortKey, rules: Lines | undefined, change?: Change): void {
    this.lines.replace(owner, rules, (before, after) => change?.set((after ?? before)!.part.key, after));
  }

  conflictsOf(owner: ServicePortKey): readonly FrontendConflict[] {
    return this.lines.conflictsOf(owner);
  }
}

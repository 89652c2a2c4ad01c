import type {
  ApplyResult,
  Backend,
  ServiceFailure,
  StartOptions,
  VerificationKind,
  VerifyResult,
} from '../../application/ports/backend.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import {
  servicePortKey,
  type ServicePortKey,
  type ServicePortName,
} from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/** A call that was made, with the keys of the service ports that it was about. */
export interface BackendCall {
  readonly method: 'start' | 'apply' | VerificationKind | 'cleanup' | 'close';
  readonly keys: readonly ServicePortKey[];
}

/**
 * A backend that programs a table in memory and keeps every call, for tests and for embedders who only want the
 * decisions. Tests can make single service ports fail, or calls as a whole; and they can hold a call, so that it stays
 * in flight until released.
 */
export class RecordingBackend implements Backend {
  readonly mode = 'recording';
  readonly calls: BackendCall[] = [];
  /** The programmed entries: none before the start, nor after a clean-up. */
  readonly programmed = new Map<ServicePortKey, ForwardingEntry>();
  /** The node of the last call. */
  node: NodeNetwork | undefined;
  /** Service ports that cannot be programmed, nor removed once they are, with the reason. */
  readonly poisoned = new Map<ServicePortKey, string>();
  /** Why some of these fail, where it is not that the kernel rejects them. */
  readonly limits = new Map<ServicePortKey, ServiceFailure['limitedBy']>();
  /** While set, calls that program or verify reject with it. */
  failure: Error | undefined;
  /** Whether signs show every write of another program. */
  watched = false;
  /** The results of the next verifications; without one a full verification finds nothing, and a quick one compares nothing. */
  readonly findings: Partial<VerifyResult>[] = [];
  private gate: Promise<void> = Promise.resolve();

  constructor(readonly family: IpFamily = 'IPv4') {}

  /** Keeps calls from finishing until the returned function is called. */
  hold(): () => void {
    let release!: () => void;
    this.gate = new Promise((resolve) => (release = resolve));
    return release;
  }

  /** The calls since the last `take`. */
  take(): readonly BackendCall[] {
    return this.calls.splice(0);
  }

  async start(
    entries: Iterable<ForwardingEntry>,
    node: NodeNetwork,
    { keepUnexplained = false }: StartOptions = {},
  ): Promise<ApplyResult> {
    const wanted = [...entries].map((entry) => ({ key: entry.key, entry }));
    await this.called('start', wanted);
    const keys = new Set(wanted.map(({ key }) => key));
    const gone = keepUnexplained ? [] : [...this.programmed.keys()].filter((key) => !keys.has(key));
    return this.program([...gone.map((key) => ({ key, entry: undefined })), ...wanted], node);
  }

  async apply(changes: readonly ForwardingChange[], node: NodeNetwork): Promise<ApplyResult> {
    await this.called('apply', changes);
    return this.program(changes, node);
  }

  mayKeep(name: ServicePortName): boolean {
    return this.programmed.has(servicePortKey(name));
  }

  async verify(how: VerificationKind, signal?: AbortSignal): Promise<VerifyResult> {
    await this.called(how, []);
    signal?.throwIfAborted();
    const compared = how === 'full';
    return {
      compared,
      watched: this.watched,
      written: 0,
      failed: [],
      ...this.findings.shift(),
    };
  }

  async cleanup(): Promise<void> {
    this.calls.push({ method: 'cleanup', keys: [] });
    this.programmed.clear();
  }

  async close(): Promise<void> {
    this.calls.push({ method: 'close', keys: [] });
  }

  private async called(method: BackendCall['method'], changes: readonly ForwardingChange[]): Promise<void> {
    this.calls.push({ method, keys: changes.map(({ key }) => key) });
    await this.gate;
    if (this.failure) throw this.failure;
  }

  private program(changes: readonly ForwardingChange[], node: NodeNetwork): ApplyResult {
    this.node = node;
    const failed: ServiceFailure[] = [];
    let written = 0;
    for (const { key, entry } of changes) {
      const reason = this.poisoned.get(key);
      const differs = entry ? this.programmed.get(key) !== entry : this.programmed.has(key);
      if (reason !== undefined && (entry || differs)) {
        const limitedBy = this.limits.get(key);
        failed.push({ key, reason, ...(limitedBy && { limitedBy }) });
        continue;
      }
      if (differs) written++;
      if (entry) this.programmed.set(key, entry);
      else this.programmed.delete(key);
    }
    return { written, failed };
  }
}

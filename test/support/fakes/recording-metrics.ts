import type { Metrics, SyncOutcome, TrafficPolicy } from '../../../src/application/ports/metrics.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';

/** Keeps every call: the method's name and its arguments. */
export class RecordingMetrics implements Metrics {
  readonly calls: (readonly [keyof Metrics, ...unknown[]])[] = [];

  /** The arguments of each call of this method, in order. */
  of(method: keyof Metrics): readonly (readonly unknown[])[] {
    return this.calls.filter(([name]) => name === method).map(([, ...rest]) => rest);
  }

  syncQueued(family: IpFamily): void {
    this.calls.push(['syncQueued', family]);
  }

  syncStarted(family: IpFamily): void {
    this.calls.push(['syncStarted', family]);
  }

  syncFinished(family: IpFamily, outcome: SyncOutcome): void {
    this.calls.push(['syncFinished', family, outcome]);
  }

  repaired(family: IpFamily, steps: number): void {
    this.calls.push(['repaired', family, steps]);
  }

  networkProgramming(family: IpFamily, seconds: number): void {
    this.calls.push(['networkProgramming', family, seconds]);
  }

  endpointChange(): void {
    this.calls.push(['endpointChange']);
  }

  endpointChangesPending(count: number): void {
    this.calls.push(['endpointChangesPending', count]);
  }

  serviceChange(): void {
    this.calls.push(['serviceChange']);
  }

  serviceChangesPending(count: number): void {
    this.calls.push(['serviceChangesPending', count]);
  }

  noLocalEndpoints(policy: TrafficPolicy, family: IpFamily, count: number): void {
    this.calls.push(['noLocalEndpoints', policy, family, count]);
  }

  conntrackReconciled(
    family: IpFamily,
    outcome: { readonly seconds: number; readonly deleted: number },
  ): void {
    this.calls.push(['conntrackReconciled', family, outcome]);
  }

  healthzAnswered(code: 200 | 503): void {
    this.calls.push(['healthzAnswered', code]);
  }

  livezAnswered(code: 200 | 503): void {
    this.calls.push(['livezAnswered', code]);
  }
}

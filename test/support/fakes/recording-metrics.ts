import type { ConntrackOutcome, Metrics } from '../../../src/application/ports/metrics.js';
import type { Protocol } from '../../../src/domain/model/service-port-name.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';

/** What metrics hear besides syncs. */
type Heard = Pick<
  Metrics,
  | 'conntrackReconciled'
  | 'connectionsReset'
  | 'connectionsUnwatched'
  | 'localhostListeners'
  | 'localhostListenerFailed'
  | 'probed'
>;

/** Keeps every call: the method's name and its arguments. */
export class RecordingMetrics implements Heard {
  readonly calls: (readonly [keyof Heard, ...unknown[]])[] = [];

  /** The arguments of each call of this method, in order. */
  of(method: keyof Heard): readonly (readonly unknown[])[] {
    return this.calls.filter(([name]) => name === method).map(([, ...rest]) => rest);
  }

  conntrackReconciled(family: IpFamily, protocol: Protocol, outcome: ConntrackOutcome): void {
    this.calls.push(['conntrackReconciled', family, protocol, outcome]);
  }

  connectionsReset(family: IpFamily, count: number): void {
    this.calls.push(['connectionsReset', family, count]);
  }

  connectionsUnwatched(family: IpFamily, count: number): void {
    this.calls.push(['connectionsUnwatched', family, count]);
  }

  localhostListeners(family: IpFamily, count: number): void {
    this.calls.push(['localhostListeners', family, count]);
  }

  localhostListenerFailed(family: IpFamily): void {
    this.calls.push(['localhostListenerFailed', family]);
  }

  probed(path: 'healthz' | 'livez', code: 200 | 503): void {
    this.calls.push(['probed', path, code]);
  }
}

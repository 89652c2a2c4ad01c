import { Host } from '../testbed/host.js';
import { DriverBundle, Namespace, type Driver } from './in-namespace.js';
import type { StandInDriver } from '../../kernel/stand-in/driver.js';

export type StandInBundle = DriverBundle<StandInDriver>;

/** The stand-in API server as a program. Make it once for each test file. */
export function bundleStandIn(): Promise<StandInBundle> {
  return DriverBundle.make<StandInDriver>(new URL('../../kernel/stand-in/driver.ts', import.meta.url));
}

/** A node in a namespace of its own, with a stand-in API server in the same namespace. */
export class ServedNode {
  private constructor(
    readonly namespace: Namespace,
    readonly node: Host,
    readonly api: Driver<StandInDriver>,
  ) {}

  static async open(prefix: string, bundle: StandInBundle): Promise<ServedNode> {
    const namespace = await Namespace.open(prefix);
    const api = namespace.drive(bundle);
    return new ServedNode(namespace, new Host(namespace.name), api);
  }

  /** Begins anew, without rules and with an empty cluster; answers the file that leads to its API server. */
  async renew(): Promise<string> {
    await this.namespace.run(['nft', 'flush', 'ruleset']);
    await this.api.ask('renew');
    return this.api.ask('kubeconfig');
  }

  async close(): Promise<void> {
    await this.node.killAgent();
    await this.namespace.close();
  }
}

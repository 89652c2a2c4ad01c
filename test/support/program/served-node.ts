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
    /** The file that leads to the API server. */
    readonly kubeconfig: string,
  ) {}

  static async open(prefix: string, bundle: StandInBundle): Promise<ServedNode> {
    const namespace = await Namespace.open(prefix);
    const api = namespace.drive(bundle);
    return new ServedNode(namespace, new Host(namespace.name), api, await api.ask('kubeconfig'));
  }

  async close(): Promise<void> {
    await this.node.killAgent();
    await this.namespace.close();
  }
}

import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Machine } from '../kernel/machine.js';
import type { ServedPort } from './served-port.js';

/** What kube-proxy has of the Node object, for one family. */
export interface KubeProxyNode {
  readonly address: string;
  /** Whose traffic is that of local pods. */
  readonly localNetwork: string;
}

/** What kube-proxy does in one mode. */
export interface KubeProxyMode {
  /** At its start, before the first sync. */
  begin?(machine: Machine, families: readonly IpFamily[]): void;
  /** Whether most syncs write only what changed since the one before, and leave what others have done to the rest. */
  readonly syncsPartially?: boolean;
  /**
   * Writes what the ports of one family ask for. Throws Error if the kernel rejects it.
   * @param changed Services that may have changed since the last sync, which went well; undefined: everything is to be written
   */
  sync(
    machine: Machine,
    family: IpFamily,
    ports: readonly ServedPort[],
    node: KubeProxyNode,
    changed?: ReadonlySet<string>,
  ): void;
  /** Asked twice a minute: whether everything is to be written again. */
  isDamaged(machine: Machine, families: readonly IpFamily[]): boolean;
  /** Removes what the mode writes. */
  remove(machine: Machine, families: readonly IpFamily[]): void;
}

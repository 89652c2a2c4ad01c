import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Machine } from '../kernel/machine.js';
import type { ServedPort } from './served-port.js';

/** What kube-proxy does in one mode. */
export interface KubeProxyMode {
  /** At its start, before the first sync. */
  begin?(machine: Machine, families: readonly IpFamily[]): void;
  /** Writes all that the ports of one family ask for. @param node the address of the Node object */
  sync(machine: Machine, family: IpFamily, ports: readonly ServedPort[], node: string): void;
  /** Asked twice a minute: whether everything is to be written again. */
  isDamaged(machine: Machine, families: readonly IpFamily[]): boolean;
  /** Removes what the mode writes. */
  remove(machine: Machine, families: readonly IpFamily[]): void;
}

import { release } from 'node:os';
import type { Logger } from '../../../application/ports/logger.js';
import { ensureSysctl } from '../../sysctl.js';

export interface IpvsSysctlOptions {
  /** The node answers ARP requests for an address only on the interface that has it. */
  readonly strictArp: boolean;
  /** For tests. */
  readonly kernel?: string;
  readonly root?: string;
}

/**
 * Sets what IPVS needs of the kernel (docs/spec/ipvs.md §2). Idempotent; writes only what differs. Needs the module ip_vs.
 * @throws SysctlError
 */
export function ensureIpvsSysctls(
  { strictArp, kernel = release(), root }: IpvsSysctlOptions,
  logger: Logger,
): void {
  ensureSysctl('net/ipv4/vs/conntrack', '1', root);
  const version = versionOf(kernel);
  // Later kernels do not lose connections whose source port is reused; earlier ones lack this mode.
  if (version >= 401 && version < 509) ensureSysctl('net/ipv4/vs/conn_reuse_mode', '0', root);
  else if (version < 401)
    logger.error(
      { kernel },
      'this kernel may lose connections whose source port is reused; use 4.1 or later',
    );
  ensureSysctl('net/ipv4/vs/expire_nodest_conn', '1', root);
  ensureSysctl('net/ipv4/vs/expire_quiescent_template', '1', root);
  ensureSysctl('net/ipv4/ip_forward', '1', root);
  if (!strictArp) return;
  ensureSysctl('net/ipv4/conf/all/arp_ignore', '1', root);
  ensureSysctl('net/ipv4/conf/all/arp_announce', '2', root);
}

/** Of `6.1.0-18-amd64` 601, so that versions compare. */
function versionOf(kernel: string): number {
  const [major = 0, minor = 0] = kernel.split('.').map((part) => parseInt(part, 10));
  return major * 100 + minor;
}

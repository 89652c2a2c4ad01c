/** Requirements of IPVS mode on the node: modules, sysctls and tools; and whether iptables mode still serves. */

import { release } from 'node:os';
import type { Logger } from '../../application/ports/logger.js';
import { NODE_PORTS, SERVICES } from '../../domain/iptables/chain-names.js';
import type { VirtualServer } from '../../domain/ipvs/virtual-server.js';
import { NamedError } from '../../domain/model/named-error.js';
import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import type { IpSetTool } from '../ipset/ipset-tool.js';
import type { IptablesCommands } from '../iptables/iptables-commands.js';
import { NetlinkError } from '../netlink/errors.js';
import { ensureSysctl } from '../sysctl.js';
import { ToolMissingError } from '../tool-programs.js';
import type { VirtualServers } from './ipvs-kernel.js';

/** The oldest version of the tool ipset that IPVS mode can use. */
const OLDEST_IPSET = 6;

/** IPVS mode cannot run on this host; the message has a line for each thing missing. */
class IpvsRequirementsError extends NamedError {
  constructor(readonly missing: readonly string[]) {
    super(`IPVS mode cannot run on this host:\n${missing.map((thing) => `- ${thing}`).join('\n')}`);
  }
}

/**
 * Checks that the host has what IPVS mode needs (docs/internals/spec/ipvs.md §1). Tries the scheduler, which
 * writes, only when no virtual server uses it yet.
 * @throws IpvsRequirementsError
 */
export async function requireIpvs(
  servers: VirtualServers,
  sets: Pick<IpSetTool, 'version'>,
  scheduler: string,
): Promise<void> {
  const missing = [await missingInIpvs(servers, scheduler), await missingOfTool(sets)];
  const problems = missing.filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new IpvsRequirementsError(problems);
}

async function missingInIpvs(servers: VirtualServers, scheduler: string): Promise<string | undefined> {
  try {
    const present: VirtualServer[] = [];
    for (const family of IP_FAMILIES) present.push(...(await servers.list(family)));
    if (present.some((server) => server.scheduler === scheduler)) return undefined;
    if (await servers.hasScheduler(scheduler)) return undefined;
    return `the kernel has no IPVS scheduler ${scheduler}: load its module (modprobe ip_vs_${scheduler}), or choose another one with --ipvs-scheduler`;
  } catch (error) {
    if (error instanceof NetlinkError) return error.message;
    throw error;
  }
}

async function missingOfTool(sets: Pick<IpSetTool, 'version'>): Promise<string | undefined> {
  try {
    const version = await sets.version();
    if (version === undefined) return 'the tool ipset does not print its version: install the package ipset';
    if (parseInt(version, 10) >= OLDEST_IPSET) return undefined;
    return `the tool ipset has version ${version}: install 6.0 or later`;
  } catch (error) {
    if (error instanceof ToolMissingError) return error.message;
    throw error;
  }
}

interface IpvsSysctlOptions {
  /** The node answers ARP requests for an address only on the interface that has it. */
  readonly strictArp: boolean;
  /** For tests. */
  readonly kernel?: string;
  readonly root?: string;
}

/**
 * Sets what IPVS needs of the kernel (docs/internals/spec/ipvs.md §2). Idempotent; writes only what differs. Needs the module ip_vs.
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

/** Loads kernel modules. A failure is only logged: they may be built in, or loaded already. */
export async function loadModules(names: readonly string[], logger: Logger): Promise<void> {
  // Loaded where it is needed only: nftables mode starts no program.
  const { execa } = await import('execa');
  const { exitCode, stderr, shortMessage } = await execa('modprobe', ['-a', ...names], {
    stdin: 'ignore',
    reject: false,
    timeout: 10_000,
  });
  if (exitCode === 0) return;
  const reason = stderr?.trim() || shortMessage;
  logger.warn({ modules: names, reason }, 'cannot load kernel modules');
}

const LEADS_TO_SERVICE = / -j KUBE-(?:SVC|SVL|EXT|FW)-/;
const LEADS_TO_NODE_PORTS = new RegExp(` -j ${NODE_PORTS}$`);

/** Whether rules of iptables mode serve Services on this node at present. */
export async function servedByIptables(
  commands: Pick<IptablesCommands, 'listChain'>,
  family: IpFamily,
): Promise<boolean> {
  const leads = (rules: readonly string[]): boolean => rules.some((rule) => LEADS_TO_SERVICE.test(rule));
  const rules = (await commands.listChain(family, 'nat', SERVICES)) ?? [];
  if (leads(rules)) return true;
  // Where no cluster IP has an endpoint, node ports may.
  if (!rules.some((rule) => LEADS_TO_NODE_PORTS.test(rule))) return false;
  return leads((await commands.listChain(family, 'nat', NODE_PORTS)) ?? []);
}

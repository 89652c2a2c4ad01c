import type { VirtualServer } from '../../../domain/ipvs/virtual-server.js';
import { IP_FAMILIES } from '../../../domain/net/ip-family.js';
import { ToolMissingError } from '../../tool-programs.js';
import type { IpSetTool } from '../../ipset/ipset-tool.js';
import { NetlinkError } from '../../netlink/errors.js';
import type { VirtualServers } from '../kernel/virtual-servers.js';
import { NamedError } from '../../../domain/model/named-error.js';

/** The oldest version of the tool ipset that mode ipvs can use. */
const OLDEST_IPSET = 6;

/** Mode ipvs cannot run on this host; the message has a line for each thing missing. */
class IpvsRequirementsError extends NamedError {
  constructor(readonly missing: readonly string[]) {
    super(`mode ipvs cannot run on this host:\n${missing.map((thing) => `- ${thing}`).join('\n')}`);
  }
}

/**
 * Checks that the host has what mode ipvs needs (docs/spec/ipvs.md §1). Tries the scheduler, which
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

/** The parts of a support bundle that come from this node: answers of its proxy, its journal, and the state of its kernel. */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { arch, availableParallelism, freemem, loadavg, release, totalmem, uptime, version } from 'node:os';
import { listChainsOfTables } from '../../../adapters/nftables/netlink/table-listing.js';
import { legacyTables, program } from '../../../adapters/iptables/variants.js';
import { NetlinkVirtualServers } from '../../../adapters/ipvs/netlink-virtual-servers.js';
import { NetlinkChannel } from '../../../adapters/netlink/netlink-channel.js';
import { NetlinkSocket } from '../../../adapters/netlink/netlink-socket.js';
import { NETLINK_NETFILTER } from '../../../adapters/netlink/protocol.js';
import { ToolMissingError, ToolPrograms } from '../../../adapters/tool-programs.js';
import { supportedFamilies } from '../../../adapters/process/host-facts.js';
import { cutText } from '../../../application/cut-text.js';
import { hex } from '../../../domain/nftables/kernel/bytes.js';
import { ruleText, verdictText } from '../../../domain/nftables/kernel/rule-text.js';
import type { KernelElement, KernelTable } from '../../../domain/nftables/kernel/ruleset.js';
import { anything, fields, list, text } from '../../../domain/shape.js';
import { IP_FAMILIES, type IpFamily } from '../../../domain/net/ip-family.js';
import { COMPARISON, QueryError, type RunningProxy } from '../cli/running-proxy.js';
import { readElements, readRuleset } from '../rules/nftables-kernel.js';
import { NotApplicableError, type BundlePart } from './bundle.js';
import {
  countConnections,
  countNeighbours,
  listDevices,
  listRoutes,
  listRoutingRules,
} from './network-state.js';

/** Milliseconds in which a tool or the own reader lists all rules. */
const RULES = 40_000;
/** Characters that are read of what a tool prints. */
const LARGEST_OUTPUT = 16 * 1024 * 1024;

/**
 * All parts of this node.
 * @param proxy why it is not reachable if it is not
 * @param programVersion of the program that collects
 */
export function nodeParts(proxy: RunningProxy | QueryError, programVersion: string): readonly BundlePart[] {
  return [...debugParts(proxy), ...ruleParts(), ...networkParts(), ...systemParts(programVersion)];
}

/** The routes of the metrics server, by the name of their file. */
const ROUTES: readonly (readonly [file: string, path: string, timeout?: number])[] = [
  ['status.json', '/debug/status'],
  ['services.json', '/debug/services', 30_000],
  ['history.json', '/debug/history'],
  ['sync.json', '/debug/sync'],
  ['diff.json', '/debug/diff', COMPARISON],
  ['traffic.json', '/debug/traffic?once=true&interval=1', 30_000],
  ['configz.json', '/configz'],
  ['metrics.txt', '/metrics', 30_000],
];

function debugParts(proxy: RunningProxy | QueryError): readonly BundlePart[] {
  if (proxy instanceof QueryError)
    return [
      { path: 'debug', source: 'the metrics server of the proxy', collect: () => Promise.reject(proxy) },
    ];
  const answers = ROUTES.map(([file, path, timeout = 10_000]): BundlePart => ({
    path: `debug/${file}`,
    source: `GET ${path}`,
    timeout,
    async collect() {
      const answer = await proxy.text(path, timeout);
      return file.endsWith('.json') ? (JSON.parse(answer) as unknown) : answer;
    },
  }));
  return [
    ...answers,
    {
      path: 'debug/explain.json',
      source: `GET /debug/explain, of ${MOST_EXPLAINED} Services with problems at most`,
      timeout: 30_000,
      collect: () => explainProblems(proxy),
    },
  ];
}

const MOST_EXPLAINED = 20;

const judgedServices = fields({ services: list(fields({ namespace: text, name: text, state: text })) });

async function explainProblems(proxy: RunningProxy): Promise<readonly unknown[]> {
  const { services } = await proxy.query('/debug/services?problems=true', judgedServices, 30_000);
  const explained = services.filter(({ state }) => state !== 'ok').slice(0, MOST_EXPLAINED);
  const explanations: unknown[] = [];
  for (const { namespace, name } of explained)
    explanations.push(await proxy.query(`/debug/explain?subject=${namespace}/${name}`, anything));
  return explanations;
}

function ruleParts(): readonly BundlePart[] {
  return [
    {
      path: 'rules/nftables.txt',
      source: 'nft list ruleset, or netlink where nft is not installed',
      timeout: RULES,
      collect: (signal) => output(['nft', 'list', 'ruleset'], signal).catch(unlessMissing(readNftables)),
    },
    ...(['iptables-nft', 'iptables-legacy'] as const).flatMap((prefix) =>
      IP_FAMILIES.map((family): BundlePart => {
        const command = program(prefix, family, 'save');
        return {
          path: `rules/${command}.txt`,
          source: command,
          timeout: RULES,
          async collect(signal) {
            await checkTables(prefix, family);
            // Distributions that have one variant alone call it plain iptables.
            const plain = program('iptables', family, 'save');
            return output([command], signal)
              .catch(unlessMissing(() => output([plain], signal)))
              .catch(unlessMissing(() => notApplicable(`${command} is not installed`)));
          },
        };
      }),
    ),
    {
      path: 'rules/ipset.txt',
      source: 'ipset save',
      timeout: RULES,
      async collect(signal) {
        if (!existsSync('/sys/module/ip_set')) notApplicable('the kernel module ip_set is not loaded');
        return output(['ipset', 'save'], signal).catch(
          unlessMissing(() => notApplicable('ipset is not installed')),
        );
      },
    },
    { path: 'rules/ipvs.json', source: 'netlink: IPVS', timeout: RULES, collect: readVirtualServers },
  ];
}

function networkParts(): readonly BundlePart[] {
  return [
    { path: 'network/devices.json', source: 'netlink: links and addresses', collect: listDevices },
    { path: 'network/routes.txt', source: 'netlink: routes of all tables', collect: listRoutes },
    { path: 'network/rules.txt', source: 'netlink: routing rules', collect: listRoutingRules },
    { path: 'network/neighbours.json', source: 'netlink: number of neighbours', collect: countNeighbours },
    {
      path: 'network/conntrack.json',
      source: 'netlink: number of tracked connections',
      timeout: RULES,
      async collect() {
        const setting = (name: string): number => Number(readProc(`sys/net/netfilter/nf_conntrack_${name}`));
        if (!existsSync('/proc/sys/net/netfilter/nf_conntrack_max'))
          notApplicable('the kernel does not track connections');
        const totals = { count: setting('count'), max: setting('max'), buckets: setting('buckets') };
        return { ...totals, connections: await countConnections() };
      },
    },
    {
      path: 'network/conntrack-statistics.txt',
      source: '/proc/net/stat/nf_conntrack',
      collect: async () => readProc('net/stat/nf_conntrack'),
    },
    { path: 'network/sysctls.txt', source: '/proc/sys/net', collect: async () => readSysctls() },
  ];
}

function systemParts(programVersion: string): readonly BundlePart[] {
  return [
    { path: 'system.json', source: 'operating system', collect: async () => systemFacts(programVersion) },
    { path: 'modules.txt', source: '/proc/modules', collect: async () => readProc('modules') },
    {
      path: 'logs/journal.log',
      source: `journalctl -u ${UNITS.join(' -u ')} --since -1h`,
      timeout: 30_000,
      keepsEnd: true,
      collect: readJournal,
    },
  ];
}

function notApplicable(reason: string): never {
  throw new NotApplicableError(reason);
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') notApplicable(`/proc/${path} does not exist`);
    throw error;
  }
}

/** What a program prints. @throws ToolMissingError if it is not installed; an Error if it fails */
async function output(command: readonly string[], signal: AbortSignal): Promise<string> {
  const programs = new ToolPrograms({ from: command[0]!, launcher: [], timeoutMilliseconds: RULES });
  let text = '';
  const stdout = (piece: string): void => {
    if (text.length < LARGEST_OUTPUT) text += piece;
  };
  const { exitCode, stderr } = await programs.run(command, { stdout }, signal);
  if (exitCode === 0) return text;
  throw new Error(`${command.join(' ')} ended with ${exitCode}: ${cutText(stderr.trim())}`);
}

function unlessMissing<T>(otherwise: () => T): (error: unknown) => T {
  return (error) => {
    if (error instanceof ToolMissingError) return otherwise();
    throw error;
  };
}

/** A tool makes empty tables, or loads modules, where there are none. */
async function checkTables(prefix: 'iptables-nft' | 'iptables-legacy', family: IpFamily): Promise<void> {
  if (!supportedFamilies().includes(family)) notApplicable(`${family} is disabled`);
  const tables =
    prefix === 'iptables-legacy'
      ? legacyTables(family)?.length !== 0
      : (await listChainsOfTables(family)).some(({ table }) =>
          /^(raw|mangle|nat|filter|security)$/.test(table),
        );
  if (!tables) notApplicable(`there is no table of ${prefix} for ${family}`);
}

/** All tables of nf_tables, a line a rule. */
async function readNftables(): Promise<string> {
  const lines: string[] = [];
  for (const family of IP_FAMILIES)
    await NetlinkChannel.during(
      () => NetlinkSocket.open(NETLINK_NETFILTER),
      (channel) =>
        channel.runExclusive(async (conversation) => {
          for (const table of (await readRuleset(conversation, family)).tables) {
            // Tables of both families are listed with IPv4.
            if (table.family === 'inet' && family === 'IPv6') continue;
            lines.push(`table ${table.family} ${table.name} {`);
            for (const set of table.sets.values()) {
              const elements = await readElements(conversation, { table, set, keys: 'all' });
              lines.push(`  set ${set.name} {`, ...elements.map(elementLine), '  }');
            }
            lines.push(...chainLines(table, family), '}');
          }
        }),
    );
  return `${lines.join('\n')}\n`;
}

function chainLines({ chains }: KernelTable, family: IpFamily): readonly string[] {
  return [...chains.values()].flatMap(({ name, hook, rules }) => [
    `  chain ${name} {`,
    ...(hook
      ? [`    type ${hook.type} hook ${hook.hook} priority ${hook.priority}; policy ${hook.policy};`]
      : []),
    ...rules.map((rule) => `    ${ruleText(rule, family)}`),
    '  }',
  ]);
}

/** Keys and values in hexadecimal, as the kernel has them. */
function elementLine({ key, lastKey, isEnd, value, verdict, comment }: KernelElement): string {
  const range = `${key ? hex(key) : '*'}${lastKey ? `-${hex(lastKey)}` : ''}${isEnd ? ' (end)' : ''}`;
  const data = value ? ` : ${hex(value)}` : verdict ? ` : ${verdictText(verdict)}` : '';
  return `    ${range}${data}${comment === undefined ? '' : ` comment "${comment}"`}`;
}

/** A query for IPVS may load its module. */
const IPVS = '/proc/net/ip_vs';

async function readVirtualServers(signal: AbortSignal): Promise<readonly object[]> {
  if (!existsSync(IPVS)) notApplicable('the kernel module ip_vs is not loaded');
  const servers = new NetlinkVirtualServers();
  try {
    const lists = [];
    for (const family of IP_FAMILIES) lists.push(...(await servers.list(family, signal)));
    return lists;
  } finally {
    servers.close();
  }
}

/** Settings below /proc/sys/net, by the pattern of their path. */
const SYSCTLS =
  /^(ipv4\/(ip_forward|ip_local_.*|fwmark_reflect|conf\/[^/]+\/(rp_filter|forwarding|route_localnet|arp_ignore|arp_announce|accept_local|src_valid_mark)|neigh\/default\/gc_thresh\d|vs\/.*|tcp_(keepalive|fin|tw|max_syn|syncookies).*)|ipv6\/(conf\/[^/]+\/(forwarding|disable_ipv6|accept_ra)|neigh\/default\/gc_thresh\d)|bridge\/.*|netfilter\/nf_(conntrack|flowtable).*|nf_conntrack_max|core\/(somaxconn|netdev_max_backlog|bpf_jit.*))$/;
const SYSCTL_FOLDERS =
  /^(ipv4|ipv6|bridge|netfilter|core|ipv4\/vs|ipv[46]\/conf(\/[^/]+)?|ipv[46]\/neigh(\/default)?)$/;

function readSysctls(root = '/proc/sys/net'): string {
  const lines: string[] = [];
  const walk = (folder: string): void => {
    for (const name of readdirSync(`${root}/${folder}`).sort()) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (SYSCTL_FOLDERS.test(path) && statSync(`${root}/${path}`).isDirectory()) walk(path);
      else if (SYSCTLS.test(path))
        lines.push(`net.${path.replaceAll('/', '.')} = ${settingAt(`${root}/${path}`)}`);
    }
  };
  walk('');
  return `${lines.join('\n')}\n`;
}

function settingAt(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim().replace(/\s+/g, ' ');
  } catch (error) {
    return `(${(error as NodeJS.ErrnoException).code})`;
  }
}

function systemFacts(programVersion: string): object {
  const status = readProc('self/status');
  const field = (name: string): string | undefined => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1];
  return {
    programVersion,
    nodeVersion: process.version,
    architecture: arch(),
    kernel: release(),
    kernelVersion: version(),
    operatingSystem: osRelease(),
    processors: availableParallelism(),
    loadAverage: loadavg(),
    memoryBytes: { total: totalmem(), free: freemem() },
    uptimeSeconds: Math.round(uptime()),
    container: IN_POD,
    ipFamilies: supportedFamilies(),
    capabilities: field('CapEff'),
    seccomp: field('Seccomp'),
    cgroup: Object.fromEntries(
      ['memory.max', 'memory.current', 'memory.events', 'cpu.max', 'cpu.stat', 'pids.max'].flatMap((name) =>
        existsSync(`/sys/fs/cgroup/${name}`) ? [[name, settingAt(`/sys/fs/cgroup/${name}`)]] : [],
      ),
    ),
  };
}

function osRelease(): string | undefined {
  const path = ['/etc/os-release', '/usr/lib/os-release'].find(existsSync);
  const text = path === undefined ? '' : readFileSync(path, 'utf8');
  return /^PRETTY_NAME="?(.*?)"?$/m.exec(text)?.[1];
}

/** The kubelet sets it in each container. */
const IN_POD = process.env.KUBERNETES_SERVICE_HOST !== undefined;
const UNITS = ['kube-proxy-ts', 'kube-proxy'];

async function readJournal(signal: AbortSignal): Promise<string> {
  if (IN_POD) notApplicable('the proxy runs in a pod: kubectl kubeproxy dump collects its log');
  const units = UNITS.flatMap((unit) => ['-u', unit]);
  const command = ['journalctl', '--no-pager', '-q', '-o', 'short-iso-precise', '--since', '-1h', ...units];
  const text = await output(command, signal);
  if (text.trim() !== '') return text;
  throw new Error(`the journal has no entries of ${UNITS.join(' or ')} in the last hour`);
}

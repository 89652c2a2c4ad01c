import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Verdicts } from '../testbed/probe.js';

const tableFiles = {
  nftables: ['nft-ip', 'nft-ip6'],
  iptables: ['iptables', 'ip6tables'],
  ipvs: ['iptables', 'ip6tables', 'ipvs', 'ipset', 'addresses'],
} as const;
const root = fileURLToPath(new URL('../../conformance/scenarios/', import.meta.url));

/** The outcomes of packets as the recordings name them. */
const OUTCOMES: Readonly<Record<string, string>> = { refused: 'reject', dropped: 'drop' };

/** One state of the cluster, and what kube-proxy 1.36 made of it. */
export interface Step {
  /** Counted from 1. */
  readonly number: number;
  /** The whole state: what is not in it was deleted. */
  readonly objects: string;
  /** What packets met; a family without services was not recorded. */
  readonly packets: { readonly ipv4: Verdicts; readonly ipv6?: Verdicts };
  /**
   * kube-proxy's own tables, IPv4 and IPv6, as `nft list table` or `iptables-save` prints them. In mode ipvs then what
   * `ipvsadm -S -n`, `ipset save` and `ip -br addr show kube-ipvs0` print.
   */
  readonly tables: readonly string[];
}

/** A recorded run of kube-proxy: its configuration, and the states of the cluster that it met one after the other. */
export interface Scenario {
  readonly name: string;
  /** KubeProxyConfiguration without `mode`. */
  readonly config: string;
  readonly steps: readonly Step[];
}

/** Reads recorded outcomes, in the words of this project. */
export function parseVerdicts(text: string): Verdicts {
  return JSON.parse(text, (_, value: unknown) =>
    typeof value === 'string' ? (OUTCOMES[value] ?? value) : value,
  ) as Verdicts;
}

const named = process.env.SCENARIOS?.split(',');

/** Whether the environment's SCENARIOS lists some, which are then tested instead of samples. */
export const areNamed = named !== undefined;

/** Whether tests are to have this scenario. */
export function isWanted(name: string): boolean {
  return named?.includes(name) ?? true;
}

/** The names of all recorded scenarios, or of those that are wanted. */
export async function scenarioNames(): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter(isWanted)
    .sort();
}

/** The modes in which the scenarios were recorded. */
export type RecordedMode = keyof typeof tableFiles;

/** Reads one scenario, with what was recorded in that mode. */
export async function readScenario(name: string, mode: RecordedMode = 'nftables'): Promise<Scenario> {
  const folder = `${root}${name}`;
  const objects = (await readdir(folder)).filter((file) => /^objects-\d+\.yaml$/.test(file));
  return {
    name,
    config: await readFile(`${folder}/config.yaml`, 'utf8'),
    steps: await Promise.all(objects.map((_, position) => readStep(folder, mode, position + 1))),
  };
}

/** All scenarios, those of the same configuration one after the other. */
export async function byConfiguration(mode: RecordedMode): Promise<readonly Scenario[]> {
  const names = await scenarioNames();
  const scenarios = await Promise.all(names.map((name) => readScenario(name, mode)));
  return scenarios.sort((one, other) => (one.config < other.config ? -1 : Number(one.config > other.config)));
}

async function readStep(folder: string, mode: RecordedMode, number: number): Promise<Step> {
  const expected = `${folder}/expected/${mode}`;
  const recorded = await readdir(expected);
  const verdicts = async (file: string): Promise<Verdicts> =>
    parseVerdicts(await readFile(`${expected}/${file}`, 'utf8'));
  const ipv6File = `packets6-${number}.json`;
  return {
    number,
    objects: await readFile(`${folder}/objects-${number}.yaml`, 'utf8'),
    packets: {
      ipv4: await verdicts(`packets-${number}.json`),
      ...(recorded.includes(ipv6File) ? { ipv6: await verdicts(ipv6File) } : {}),
    },
    tables: await Promise.all(
      tableFiles[mode].map((file) => readFile(`${expected}/${file}-${number}.txt`, 'utf8')),
    ),
  };
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DumpError } from '../../../src/diagnostics/adapters/compare/dump-sides.js';
import { ComparisonError } from '../../../src/diagnostics/domain/compare/side.js';
import type { ComparisonResult } from '../../../src/diagnostics/application/comparison-report.js';
import { compare } from '../../../src/diagnostics/bootstrap/compare.js';
import { usePrinted } from '../../support/program/use-printed.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { parseCommand } from '../../support/command-line.js';

const scenarios = fileURLToPath(new URL('../../conformance/scenarios', import.meta.url));
const scenario = `${scenarios}/nodeport-local-policy`;
const cluster = ['--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'];
const manifests = ['--manifests', `${scenario}/objects-1.yaml`, ...cluster];
/** Of a scenario without node ports: which addresses of the node have them, its Node object alone does not tell. */
const plain = `${scenarios}/clusterip-basic`;
const dumpOf = (mode: string, ...names: readonly string[]) =>
  names.map((name) => `${plain}/expected/${mode}/${name}-1.txt`).join(',');

let folder: string;
const printed = usePrinted();
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubeproxy-compare-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

function run(...args: readonly string[]): Promise<number> {
  const asked = parseCommand(['compare', ...args], { readFile: () => '', hostname: () => 'unused' });
  return compare(asked, new MemoryLogger());
}

const iptables = `${scenario}/expected/iptables/iptables-1.txt`;

it.each([
  ['iptables', dumpOf('iptables', 'iptables', 'ip6tables')],
  ['ipvs', dumpOf('ipvs', 'iptables', 'ip6tables', 'ipvs', 'ipset')],
  ['nftables', dumpOf('nftables', 'nft-ip', 'nft-ip6')],
])("finds no difference between kube-proxy's dump and the plan of mode %s", async (mode, dump) => {
  expect(
    await run('--dump', dump, '--plan', mode, '--manifests', `${plain}/objects-1.yaml`, ...cluster),
  ).toBe(0);
  expect(printed.stdout).toMatch(
    /^IPv4: .* classes of packets equal, 0 different, 0 unknown\nIPv6: .* 0 different, 0 unknown\nnote: the node's own addresses are .*\n$/,
  );
});

it.each(['iptables', 'ipvs', 'nftables'])(
  'finds Services that only the plan of mode %s has',
  async (mode) => {
    const nothing = join(folder, 'iptables.txt');
    await writeFile(nothing, '*nat\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n');
    const objects = ['--manifests', `${plain}/objects-1.yaml`, ...cluster];
    expect(await run('--dump', nothing, '--plan', mode, ...objects)).toBe(1);
    expect(printed.stdout).toMatch(/^ {2}default\/\w+$/m);
  },
);

it('tells of differences between modes in words, and accepts those that are expected', async () => {
  const plans = ['--plan', 'iptables', '--plan', 'nftables', ...manifests];
  expect(await run(...plans)).toBe(1);
  expect(printed.stdout).toContain('known difference hairpin-elsewhere: ');
  expect(printed.stdout).toContain(
    '    a pod elsewhere (10.244.2.6) → 172.30.10.4:80/TCP [hairpin-elsewhere]\n',
  );
  const names = 'other-ports,unallocated-cluster-ips,hairpin-elsewhere,node-port-addresses';
  expect(await run(...plans, '--expect', names, '--expect', 'localhost-node-ports')).toBe(0);
});

it('notes that node ports on localhost change with Kubernetes 1.38', async () => {
  const plans = ['--plan', 'nftables', '--plan', 'nftables', ...manifests];
  const note =
    /^note: in nftables mode, .* rejected on loopback addresses from Kubernetes 1\.38 on; before, they are left alone$/m;
  expect(await run(...plans)).toBe(0);
  expect(printed.stdout).toMatch(note);
  printed.stdout = '';
  await run(...plans, '--nodeport-addresses', 'primary,localhost');
  expect(printed.stdout).not.toMatch(note);
});

it('shows by Service what a changed rule does, in wide the way of the packet', async () => {
  const { readFileSync } = await import('node:fs');
  const text = readFileSync(`${scenario}/expected/iptables/iptables-1.txt`, 'utf8');
  const changed = join(folder, 'changed.txt');
  await writeFile(
    changed,
    text.replaceAll('--to-destination 10.244.1.5:8080', '--to-destination 10.244.1.9:8080'),
  );
  expect(await run('--dump', changed, '--dump', iptables, '-o', 'wide')).toBe(1);
  expect(printed.stdout).toContain('\n  default/npl\n');
  expect(printed.stdout).toMatch(
    /changed\.txt \(iptables\): to 10\.244\.1\.9:8080 50 %, to 10\.244\.2\.6:8080/,
  );
  expect(printed.stdout).toContain('-j DNAT --to-destination 10.244.1.9:8080 → sends it to 10.244.1.9:8080');
  expect(printed.stdout).toContain('note: IPv6 is not compared: a side has no rules of it');
});

it('ends with 2 where a rule is not understood, and names it', async () => {
  const { readFileSync } = await import('node:fs');
  const text = readFileSync(`${scenario}/expected/iptables/iptables-1.txt`, 'utf8');
  const unclear = join(folder, 'unclear.txt');
  await writeFile(
    unclear,
    text.replace(
      '-A INPUT -j KUBE-FIREWALL',
      '-A INPUT -m u32 --u32 "6&0xff=1" -j DROP\n-A INPUT -j KUBE-FIREWALL',
    ),
  );
  expect(await run('--dump', unclear, '--dump', iptables, '-o', 'json')).toBe(1);
  const { families } = JSON.parse(printed.stdout) as ComparisonResult;
  expect(families[0]!.unknowns[0]!.rule).toContain('-m u32');
});

describe('a dump with virtual servers by firewall mark', () => {
  const marked = '-A -f 5 -s rr\n-a -f 5 -r 192.0.2.9:0 -g -w 1\n-A -f 6 -6 -s wlc\n';
  const objects = ['--manifests', `${plain}/objects-1.yaml`, ...cluster];

  it('is compared without them', async () => {
    const { readFileSync } = await import('node:fs');
    const servers = join(folder, 'ipvs.txt');
    await writeFile(servers, marked + readFileSync(`${plain}/expected/ipvs/ipvs-1.txt`, 'utf8'));
    const dump = `${dumpOf('ipvs', 'iptables', 'ip6tables', 'ipset')},${servers}`;
    expect(await run('--dump', dump, '--plan', 'ipvs', ...objects)).toBe(0);
  });

  it('is one of mode iptables where its rules match against no set of mode ipvs', async () => {
    const servers = join(folder, 'ipvs.txt');
    await writeFile(servers, marked);
    const dump = `${dumpOf('iptables', 'iptables', 'ip6tables')},${servers}`;
    expect(await run('--dump', dump, '--plan', 'iptables', ...objects)).toBe(0);
  });
});

it('refuses what cannot be compared', async () => {
  const other = join(folder, 'other.txt');
  await writeFile(other, 'nonsense');
  await expect(run('--dump', other, '--dump', iptables)).rejects.toThrow(DumpError);
  expect(() => run('--plan')).toThrow(
    'compare takes two of --kernel, --plan [MODE] and --dump FILE[,FILE...], or --kernel alone',
  );
  expect(() => run('--plan', 'magic', '--kernel')).toThrow(
    '--plan takes iptables, ipvs, nftables or nothing',
  );
  expect(() => run('--plan', '--kernel', '--expect', 'nothing')).toThrow(
    'there is no known difference "nothing"',
  );
});

it('refuses sides without a common family, and says which each has', async () => {
  const refused = run('--dump', iptables, '--dump', dumpOf('iptables', 'ip6tables'));
  await expect(refused).rejects.toThrow(ComparisonError);
  await expect(refused).rejects.toThrow(/one has IPv4, the other IPv6; compare rules/);
});

describe('mode userspace, in which a process decides, is refused', () => {
  it('as a plan, asked for or configured', async () => {
    expect(() => run('--plan', 'userspace', '--kernel')).toThrow(ComparisonError);
    const configured = run('--plan', '--dump', iptables, '--proxy-mode', 'userspace', ...manifests);
    await expect(configured).rejects.toThrow(ComparisonError);
  });

  it('as a dump, unless no rules of it are left', async () => {
    const dump = async (rule: string) => {
      const file = join(folder, 'userspace.txt');
      await writeFile(file, `*nat\n:KUBE-PORTALS-CONTAINER - [0:0]\n${rule}COMMIT\n`);
      return run('--dump', file, '--dump', file);
    };
    const redirects = '-d 10.96.0.10/32 -p tcp -m tcp --dport 80 -j REDIRECT --to-ports 40001';
    await expect(dump(`-A KUBE-PORTALS-CONTAINER ${redirects}\n`)).rejects.toThrow(
      /userspace\.txt cannot be compared: .*"kubeproxy trace"/,
    );
    expect(await dump('')).toBe(0);
  });
});

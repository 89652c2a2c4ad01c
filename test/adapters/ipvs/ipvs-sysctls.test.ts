import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { ensureIpvsSysctls } from '../../../src/adapters/ipvs/node-requirements.js';
import { SysctlError } from '../../../src/adapters/sysctl.js';

const names = [
  ...['conntrack', 'conn_reuse_mode', 'expire_nodest_conn', 'expire_quiescent_template'].map(
    (name) => `net/ipv4/vs/${name}`,
  ),
  'net/ipv4/ip_forward',
  'net/ipv4/conf/all/arp_ignore',
  'net/ipv4/conf/all/arp_announce',
];

describe('sysctls of mode ipvs', () => {
  let root: string;
  let logger: MemoryLogger;
  beforeEach(() => {
    logger = new MemoryLogger();
    root = mkdtempSync(join(tmpdir(), 'kpsysctl-'));
    for (const name of names) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), '7\n');
    }
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const values = () => names.map((name) => readFileSync(join(root, name), 'utf8').trim());

  it('are set as kube-proxy sets them', () => {
    ensureIpvsSysctls({ strictArp: false, kernel: '6.1.0-18-amd64', root }, logger);
    expect(values()).toEqual(['1', '7', '1', '1', '1', '7', '7']);
    ensureIpvsSysctls({ strictArp: true, kernel: '6.1.0-18-amd64', root }, logger);
    expect(values()).toEqual(['1', '7', '1', '1', '1', '1', '2']);
    expect(logger.lines).toEqual([]);
  });

  it.each([
    ['5.9.0', '7', 0],
    ['5.10.0', '7', 0],
    ['5.8.18', '0', 0],
    ['4.1.0', '0', 0],
    ['4.0.9', '7', 1],
    ['3.10.0-1160.el7', '7', 1],
  ])('leave connections with used source ports to kernel %s: %s', (kernel, expected, complaints) => {
    ensureIpvsSysctls({ strictArp: false, kernel, root }, logger);
    expect(values()[1]).toBe(expected);
    expect(logger.lines).toHaveLength(complaints);
  });

  it('are written only when they differ', () => {
    ensureIpvsSysctls({ strictArp: true, kernel: '6.1.0', root }, logger);
    const before = names.map((name) => statSync(join(root, name), { bigint: true }).mtimeNs);
    ensureIpvsSysctls({ strictArp: true, kernel: '6.1.0', root }, logger);
    expect(names.map((name) => statSync(join(root, name), { bigint: true }).mtimeNs)).toEqual(before);
  });

  it('say what to do where they cannot be set', () => {
    const path = join(root, 'net/ipv4/ip_forward');
    rmSync(path);
    mkdirSync(path);
    expect(() => ensureIpvsSysctls({ strictArp: false, kernel: '6.1.0', root }, logger)).toThrow(
      /^cannot set the sysctl net\/ipv4\/ip_forward to 1: EISDIR.*sysctl -w net\.ipv4\.ip_forward=1.*--init-only/,
    );
  });

  it('cannot be set in a kernel without IPVS', () => {
    rmSync(join(root, 'net/ipv4/vs'), { recursive: true });
    expect(() => ensureIpvsSysctls({ strictArp: false, root }, logger)).toThrow(SysctlError);
    expect(() => ensureIpvsSysctls({ strictArp: false, root }, logger)).toThrow('net/ipv4/vs/conntrack to 1');
  });
});

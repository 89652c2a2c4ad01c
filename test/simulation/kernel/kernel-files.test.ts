import type { WorldSettings } from '../world/settings.js';
import { World } from '../world/world.js';

const SETTINGS: WorldSettings = {
  seed: 1,
  mode: 'nftables',
  families: ['IPv4'],
  nodeName: 'n1',
  kernel: '6.18.0',
  iptables: 'nft',
  source: 'api',
  arguments: [],
};

it('settings of connection tracking hold as soon as they are written', () => {
  const { files, machine } = new World(SETTINGS);
  const file = '/proc/sys/net/netfilter/nf_conntrack_acct';
  expect(files.read(file)).toBe('0\n');
  files.write(file, Buffer.from('1'));
  expect(files.read(file)).toBe('1\n');
  expect(machine.connections.sysctl('nf_conntrack_acct')).toBe(1);
  expect(() => files.write(file, Buffer.from('much'))).toThrow('EINVAL');
});

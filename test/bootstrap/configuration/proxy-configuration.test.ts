import {
  localhostNodePortsChange,
  modeSettings,
  withMode,
  withModeAsBefore,
} from '../../../src/bootstrap/configuration/proxy-configuration.js';
import { parse, parseFile } from './support.js';

const { configuration } = parseFile(
  'iptables: {masqueradeAll: true, masqueradeBit: 1, syncPeriod: 11s, minSyncPeriod: 1s}\n' +
    'ipvs: {syncPeriod: 12s, minSyncPeriod: 2s}\n' +
    'nftables: {masqueradeBit: 3, syncPeriod: 13s}',
);

describe('modeSettings (docs/internals/spec/configuration.md §3.1)', () => {
  it.each([
    ['iptables', { masqueradeAll: true, masqueradeBit: 1, syncPeriod: 11_000, minSyncPeriod: 1_000 }],
    ['ipvs', { masqueradeAll: true, masqueradeBit: 1, syncPeriod: 12_000, minSyncPeriod: 2_000 }],
    ['nftables', { masqueradeAll: false, masqueradeBit: 3, syncPeriod: 13_000, minSyncPeriod: undefined }],
  ] as const)('%s', (mode, settings) => {
    expect(modeSettings(configuration, mode)).toMatchObject(settings);
  });
});

describe('withMode (docs/internals/spec/configuration.md §3.2)', () => {
  it('settles what an unset mode has left open', () => {
    expect(withMode(configuration, 'nftables')).toMatchObject({
      mode: 'nftables',
      nodePortAddresses: ['primary'],
    });
    expect(withMode(configuration, 'iptables')).toMatchObject({ mode: 'iptables', nodePortAddresses: [] });
  });

  it('keeps what was asked for', () => {
    const asked = { ...configuration, nodePortAddresses: ['10.0.0.0/8'] };
    expect(withMode(asked, 'nftables').nodePortAddresses).toEqual(['10.0.0.0/8']);
  });
});

describe('withModeAsBefore', () => {
  it.each([
    ['auto', 'nftables', 'auto', 'nftables'],
    ['auto', 'nftables', 'nftables', 'nftables'],
    ['auto', 'iptables', '', 'iptables'],
    ['', 'iptables', 'iptables', 'iptables'],
    ['nftables', 'nftables', 'nftables', 'nftables'],
    ['nftables', 'nftables', '', ''],
    ['nftables', 'nftables', 'auto', 'auto'],
    ['iptables', 'iptables', 'ipvs', 'ipvs'],
  ] as const)('asked for %j, present %s, edited to %j, is %j', (asked, present, edited, expected) => {
    expect(withModeAsBefore({ ...configuration, mode: edited }, asked, present).mode).toBe(expected);
  });
});

describe('node ports on localhost, from Kubernetes 1.38 on', () => {
  const change = (...flags: readonly string[]) =>
    localhostNodePortsChange(parse(['--proxy-mode=nftables', ...flags]).configuration);

  it('are rejected instead of left alone, where nobody has decided it', () => {
    for (const flags of [[], ['--nodeport-addresses=primary'], ['--nodeport-addresses=198.51.100.0/24']])
      expect(change(...flags)).toMatch(/rejected on loopback addresses from Kubernetes 1\.38 on/);
    expect(change('--kubernetes-version=1.38')).toBeDefined();
  });

  it.each([
    ['--proxy-mode=iptables'],
    ['--nodeport-addresses=primary,localhost'],
    ['--nodeport-addresses=127.0.0.0/8'],
    ['--nodeport-addresses=primary,::1/128'],
    ['--feature-gates=KubeProxyNFTablesLocalhostNodePorts=false'],
    ['--feature-gates=KubeProxyNFTablesLocalhostNodePorts=true'],
    ['--feature-gates=AllBeta=false'],
  ])('stay as they are with %s', (flag) => {
    expect(change(flag)).toBeUndefined();
  });
});

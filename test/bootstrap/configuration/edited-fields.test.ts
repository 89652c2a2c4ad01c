import { editedFields, withMode } from '../../../src/bootstrap/configuration/proxy-configuration.js';
import type { ProxyMode } from '../../../src/bootstrap/configuration/schema.js';
import { parseFile } from './support.js';

/** What an edit of the file takes, by path. */
function effects(mode: ProxyMode, before: string, after: string) {
  const configured = (body: string) => {
    const { configuration } = parseFile(body);
    return { configuration: configuration.mode === '' ? withMode(configuration, mode) : configuration };
  };
  const fields = editedFields(configured(before), configured(after));
  return Object.fromEntries(fields.map(({ path, effect }) => [path, effect]));
}

describe('editedFields', () => {
  it('finds nothing in another way to write the same', () => {
    expect(
      effects(
        'iptables',
        'conntrack: {udpTimeout: 60s}\nfeatureGates: {}',
        'featureGates: {ComponentFlagz: true}\nconntrack:\n  udpTimeout: 1m\nbindAddress: 0.0.0.0',
      ),
    ).toEqual({});
  });

  it.each([
    ['logging: {verbosity: 4}', { 'logging.verbosity': 'at-once' }],
    ['logging: {format: json}', { 'logging.format': 'at-once' }],
    ['iptables: {syncPeriod: 1m}', { 'iptables.syncPeriod': 'at-once' }],
    ['iptables: {masqueradeAll: true}', { 'iptables.masqueradeAll': 'resync' }],
    ['nodePortAddresses: [primary]', { nodePortAddresses: 'resync' }],
    ['clusterCIDR: 10.0.0.0/8', { clusterCIDR: 'resync' }],
    [
      'detectLocalMode: BridgeInterface\ndetectLocal: {bridgeInterface: cni0}',
      { detectLocalMode: 'resync', 'detectLocal.bridgeInterface': 'resync' },
    ],
    ['mode: nftables', { mode: 'restart', nodePortAddresses: 'resync' }],
    ['clientConnection: {kubeconfig: k}', { 'clientConnection.kubeconfig': 'restart' }],
    ['metricsBindAddress: 0.0.0.0', { metricsBindAddress: 'restart' }],
    ['hostnameOverride: other', { hostnameOverride: 'restart' }],
    ['conntrack: {min: 5}', { 'conntrack.min': 'restart' }],
    ['featureGates: {AllowServiceExternalIPs: false}', { featureGates: 'restart' }],
    ['winkernel: {enableDSR: true}', { 'winkernel.enableDSR': 'none' }],
  ])('in mode iptables, %j', (edit, expected) => {
    expect(effects('iptables', '', edit)).toEqual(expected);
  });

  it('what belongs to other modes has no effect', () => {
    expect(
      effects('nftables', '', 'ipvs: {scheduler: lc}\niptables: {masqueradeBit: 5, syncPeriod: 1m}'),
    ).toEqual({ 'ipvs.scheduler': 'none', 'iptables.masqueradeBit': 'none', 'iptables.syncPeriod': 'none' });
    expect(effects('ipvs', 'mode: ipvs', 'mode: ipvs\nipvs: {scheduler: lc}')).toEqual({
      'ipvs.scheduler': 'restart',
    });
    expect(effects('nftables', '', 'nftables: {minSyncPeriod: 2s}')).toEqual({
      'nftables.minSyncPeriod': 'at-once',
    });
  });
});

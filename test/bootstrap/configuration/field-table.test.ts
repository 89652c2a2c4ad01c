import fc from 'fast-check';
import { Document, stringify } from 'yaml';
import {
  configurationText,
  effectiveConfiguration,
} from '../../../src/bootstrap/configuration/configuration-file.js';
import { fieldEntries, valueAt } from '../../../src/bootstrap/configuration/field.js';
import { schema } from '../../../src/bootstrap/configuration/schema.js';
import { parse, parseFile } from './support.js';

/**
 * The rows of docs/internals/spec/configuration.md §3: the field; its default as a file with this mode shows it (§3.1); another value;
 * and what a zero becomes where it does not mean "unset". Undefined: left out of the file.
 */
const FIELDS: readonly (readonly [path: string, mode: string, normal: unknown, other: unknown])[] = [
  ['featureGates', '', undefined, { ComponentFlagz: false }],
  ['clientConnection.kubeconfig', '', '', '/k'],
  ['clientConnection.acceptContentTypes', '', '', 'application/json'],
  ['clientConnection.contentType', '', 'application/vnd.kubernetes.protobuf', 'application/json'],
  ['clientConnection.qps', '', 5, 2.5],
  ['clientConnection.burst', '', 10, 20],
  ['logging.format', '', 'text', 'json'],
  ['logging.flushFrequency', '', '5s', '250ms'],
  ['logging.verbosity', '', 0, 4],
  ['logging.vmodule', '', undefined, [{ filePattern: 'a', verbosity: 1 }]],
  ['logging.options.text.splitStream', '', undefined, true],
  ['logging.options.text.infoBufferSize', '', '0', '64Ki'],
  ['logging.options.json.splitStream', '', undefined, true],
  ['logging.options.json.infoBufferSize', '', '0', '64Ki'],
  ['hostnameOverride', '', '', 'Node-A'],
  ['bindAddress', '', '0.0.0.0', '10.0.0.1'],
  ['healthzBindAddress', '', '0.0.0.0:10256', '10.0.0.1:80'],
  ['metricsBindAddress', '', '127.0.0.1:10249', '10.0.0.1:80'],
  ['bindAddressHardFail', '', false, true],
  ['enableProfiling', '', false, true],
  ['showHiddenMetricsForVersion', '', '', '1.36'],
  ['iptables.masqueradeBit', '', 14, 0],
  ['iptables.masqueradeAll', '', false, true],
  ['iptables.localhostNodePorts', '', true, false],
  ['iptables.syncPeriod', '', '30s', '1m0s'],
  ['iptables.minSyncPeriod', '', '1s', '250ms'],
  ['ipvs.syncPeriod', 'ipvs', '30s', '1m0s'],
  ['ipvs.minSyncPeriod', 'ipvs', '0s', '2s'],
  ['ipvs.scheduler', 'ipvs', '', 'lc'],
  ['ipvs.excludeCIDRs', 'ipvs', null, ['10.0.0.0/8']],
  ['ipvs.strictARP', 'ipvs', false, true],
  ['ipvs.tcpTimeout', 'ipvs', '0s', '15m0s'],
  ['ipvs.tcpFinTimeout', 'ipvs', '0s', '2m0s'],
  ['ipvs.udpTimeout', 'ipvs', '0s', '5m0s'],
  ['nftables.masqueradeBit', 'nftables', 14, 0],
  ['nftables.masqueradeAll', 'nftables', false, true],
  ['nftables.syncPeriod', 'nftables', '30s', '1m0s'],
  ['nftables.minSyncPeriod', 'nftables', '1s', '2s'],
  ['winkernel.networkName', '', '', 'overlay'],
  ['winkernel.sourceVip', '', '', '10.0.0.1'],
  ['winkernel.rootHnsEndpointName', '', '', 'r'],
  ['winkernel.enableDSR', '', false, true],
  ['winkernel.forwardHealthCheckVip', '', false, true],
  ['detectLocalMode', '', 'ClusterCIDR', 'NodeCIDR'],
  ['detectLocal.bridgeInterface', '', '', 'cni0'],
  ['detectLocal.interfaceNamePrefix', '', '', 'veth'],
  ['clusterCIDR', '', '', '10.0.0.0/8,fd00::/8'],
  ['nodePortAddresses', '', null, ['primary']],
  ['nodePortAddresses', 'nftables', ['primary'], ['0.0.0.0/0']],
  ['oomScoreAdj', '', -999, 0],
  ['conntrack.maxPerCore', '', 32768, 0],
  ['conntrack.min', '', 131072, 0],
  ['conntrack.tcpEstablishedTimeout', '', '24h0m0s', '0s'],
  ['conntrack.tcpCloseWaitTimeout', '', '1h0m0s', '0s'],
  ['conntrack.tcpBeLiberal', '', false, true],
  ['conntrack.udpTimeout', '', '0s', '30s'],
  ['conntrack.udpStreamTimeout', '', '0s', '1.5s'],
  ['configSyncPeriod', '', '15m0s', '1h0m0s'],
  ['portRange', '', '', '1000-2000'],
  ['windowsRunAsService', '', undefined, true],
];

/** Values that are valid only with others, or without. */
const NEEDS_COMPANY = /^(featureGates|logging\.(format|vmodule)|.*yncPeriod)$/;

/** The field as the configuration in effect shows it, when the file gives it so, or does not give it. */
function shown(path: string, mode: string, given?: unknown): unknown {
  const value = path
    .split('.')
    .reduceRight<unknown>((inner, name) => ({ [name]: inner }), given === undefined ? null : given);
  const gates = path.startsWith('logging.options') ? { featureGates: { LoggingAlphaOptions: true } } : {};
  return valueAt(
    effectiveConfiguration(parseFile(stringify({ mode, ...gates, ...(value as object) }))),
    path,
  );
}

describe('fields (docs/internals/spec/configuration.md §3)', () => {
  it.each(FIELDS)('%s, in mode %j, is %j unless it is set', (path, mode, normal) => {
    expect(shown(path, mode)).toEqual(normal);
  });

  it.each(FIELDS)('%s, in mode %j, is taken as it is set', (path, mode, _normal, other) => {
    expect(shown(path, mode, other)).toEqual(other);
  });

  it('mode: every one that there is', () => {
    expect(shown('mode', '')).toBe('iptables');
    for (const mode of ['iptables', 'ipvs', 'nftables']) expect(shown('mode', '', mode)).toBe(mode);
  });

  it('are all of the schema, but for our own', () => {
    const rows = FIELDS.map(([path]) => path);
    const others = fieldEntries(schema).map(([path]) => path);
    expect(
      others.filter((path) => !rows.includes(path) && path !== 'udpIdleTimeout' && path !== 'page'),
    ).toEqual([
      'kubernetesVersion',
      'checkForwarding',
      'debugRoutes',
      'serviceTrafficMetrics',
      'serviceTrafficMetricsLimit',
      'ejectUnresponsiveEndpoints',
      'serviceFrontendsLimit',
      'resetDeadConnections',
      'mode',
    ]);
  });

  it('whatever is set, the text that is written is read as what it was', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('iptables', 'ipvs', 'nftables', 'auto'),
        fc.subarray([...FIELDS]),
        (mode, rows) => {
          const document = new Document({ mode, featureGates: { LoggingAlphaOptions: true } });
          for (const [path, , , value] of rows)
            if (!NEEDS_COMPANY.test(path)) document.setIn(path.split('.'), document.createNode(value));
          const text = configurationText(parseFile(document.toString()));
          expect(configurationText(parse(['--config', 'f'], text))).toBe(text);
        },
      ),
      { numRuns: 20 },
    );
  });
});

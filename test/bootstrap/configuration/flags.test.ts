import { proxyFlags, flagValues } from '../../../src/bootstrap/configuration/flags.js';
import { parse, parseFile } from './support.js';

const values = (...argv: readonly string[]) => Object.fromEntries(flagValues(parse(argv)));

describe('flagValues', () => {
  it('gives every flag with its default, sorted by name', () => {
    const names = flagValues(parse([])).map(([name]) => name);
    expect(names).toEqual([...proxyFlags.keys(), 'help'].sort());
    expect(values()).toMatchObject({
      'bind-address': '0.0.0.0',
      'cluster-cidr': '',
      'conntrack-tcp-timeout-established': '24h0m0s',
      'feature-gates': '',
      'healthz-port': '10256',
      help: 'false',
      'iptables-localhost-nodeports': 'true',
      'ipvs-min-sync-period': '1s',
      'kube-api-qps': '5',
      'log-text-info-buffer-size': '0',
      'nodeport-addresses': '[]',
      'oom-score-adj': '-999',
      v: '0',
      version: 'false',
      vmodule: '',
    });
  });

  it('gives what the command line says, not the file', () => {
    const line = parseFile('mode: nftables\noomScoreAdj: 5', '--oom_score_adj=7', '-v3');
    expect(Object.fromEntries(flagValues(line))).toMatchObject({
      config: 'f',
      'proxy-mode': '',
      'oom-score-adj': '7',
      v: '3',
    });
    expect(
      values('--feature-gates=B=true,A=false', '--nodeport-addresses=10.0.0.0/8', '--vmodule=a=1'),
    ).toMatchObject({
      'feature-gates': 'A=false,B=true',
      'nodeport-addresses': '[10.0.0.0/8]',
      vmodule: 'a=1',
    });
  });
});

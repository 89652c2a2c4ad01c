import { execa } from 'execa';
import { resolve } from 'node:path';
import { NO_TERMINAL } from '../../src/adapters/cli/reader.js';
import { parseCommand } from '../support/command-line.js';
import { StandInCluster } from '../support/cluster/stand-in-cluster.js';
import { tokenOf } from '../support/cluster/service-account-roles.js';
import { kubeadmObjects } from '../support/cluster/kubeadm-objects.js';
import { until } from '../support/until.js';
import { CLUSTER_TOOLS } from './cluster-tools.js';

/** The notes that `helm install` prints, against a cluster. */
describe('the notes of the chart', () => {
  let cluster: StandInCluster;
  beforeAll(async () => {
    cluster = await StandInCluster.start([]);
  });
  afterAll(() => cluster.close());
  afterEach(() => cluster.clear());

  const tools = () => ({
    KUBECONFIG: cluster.kubeconfig,
    PATH: `${resolve(CLUSTER_TOOLS, 'kubectl')}:${process.env.PATH}`,
  });

  /** @param flags of helm, besides */
  async function notes(values = '', ...flags: readonly string[]): Promise<string> {
    const set = `apiServer=https://10.0.0.10:6443,clusterCIDR=10.244.0.0/16,${values}`;
    const where = ['--namespace', 'kube-system', '--dry-run=server', ...flags];
    const { stdout } = await execa(
      `${CLUSTER_TOOLS}/helm/helm`,
      ['install', 'proxy', 'deploy/chart', '--set', set, ...where],
      { env: tools() },
    );
    return stdout.slice(stdout.indexOf('NOTES:'));
  }

  /** kube-proxy as kubeadm installs it, in a cluster with these nodes. */
  function runKubeProxy(...nodes: readonly string[]): void {
    const labels = { 'kubernetes.io/os': 'linux' };
    const objects = nodes.map((name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }));
    cluster.put([...objects, ...kubeadmObjects('')]);
  }

  async function expectWarning(where: string): Promise<string> {
    let text = '';
    await until(`the notes warn ${where}`, async () => {
      text = await notes();
      return text.includes(`WARNING: kube-proxy still runs ${where} `);
    });
    return text;
  }

  /** Runs the command of the notes that sets the node selector of kube-proxy to a value. */
  async function patch(text: string, value: string): Promise<void> {
    const [command] =
      text.match(new RegExp(`kubectl -n kube-system patch [^']*'[^']*:${value}}[^']*'`)) ?? [];
    await execa({ shell: true, env: tools() })`${command!}`;
  }

  it('have the commands to run next, and the kernel that nftables mode requires', async () => {
    const text = await notes();
    const exec = 'kubectl -n kube-system exec daemonset/kube-proxy-ts -- kubeproxy';
    for (const command of ['status', 'services --problems', 'explain NAMESPACE/NAME'])
      expect(text).toContain(`\n  ${exec} ${command}\n`);
    expect(text).toContain('\n  kubectl kubeproxy status\n');
    expect(await notes('nameOverride=node-proxy')).toContain(
      '\n  kubectl kubeproxy status -l k8s-app=node-proxy\n',
    );
    expect(text).toContain('nftables mode requires Linux 5.13 or newer');
    expect(text).toContain('--reuse-values --set mode=iptables');
    expect(await notes('mode=iptables')).not.toContain('5.13');
  });

  it('have commands with flags that exist', async () => {
    const text = await notes('nameOverride=node-proxy');
    const commands = [...text.matchAll(/^ {2}(?:kubectl .* -- (kubeproxy)|(kubectl kubeproxy)) (.*)$/gm)];
    expect(commands).toHaveLength(4);
    for (const [, command, plugin, words = ''] of commands)
      parseCommand(
        words.replace('NAMESPACE/NAME', 'shop/web').split(' '),
        { hostname: () => 'node1' },
        { ...NO_TERMINAL, program: (command ?? plugin)! },
      );
  });

  it('warn while kube-proxy runs on a node, and have the commands that stop it and start it again', async () => {
    expect(await notes()).not.toContain('WARNING');
    runKubeProxy('one');
    await expectWarning('on 1 node.');
    runKubeProxy('one', 'two', 'three');
    const text = await expectWarning('on 3 nodes.');
    await patch(text, '"kube-proxy"');
    await until('kube-proxy is parked', async () => !(await notes()).includes('WARNING'));
    await patch(text, 'null');
    await expectWarning('on 3 nodes.');
  });

  it('need the right to get the DaemonSet of kube-proxy, or a value, which the error has', async () => {
    const account = { name: 'installer', namespace: 'tools' };
    const rules = [
      {
        apiGroups: ['', 'rbac.authorization.k8s.io'],
        resources: ['secrets', 'serviceaccounts', 'configmaps', 'clusterroles', 'clusterrolebindings'],
        verbs: ['get', 'list', 'create', 'patch'],
      },
      { apiGroups: ['apps'], resources: ['daemonsets'], resourceNames: ['kube-proxy-ts'], verbs: ['get'] },
    ];
    const metadata = { name: 'installer' };
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata };
    cluster.put([
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account },
      { ...role, rules } as never,
      {
        ...role,
        kind: 'ClusterRoleBinding',
        roleRef: { kind: 'ClusterRole', name: 'installer' },
        subjects: [{ kind: 'ServiceAccount', ...account }],
      } as never,
    ]);
    const asInstaller = ['--kube-token', tokenOf(account.namespace, account.name)];
    await expect(notes('', ...asInstaller)).rejects.toThrow(
      /--set lookupKubeProxy=false[^]*error calling lookup/,
    );
    expect(await notes('lookupKubeProxy=false', ...asInstaller)).toContain('is installed as the DaemonSet');
  });

  it('say how metrics can be read elsewhere, until they can', async () => {
    expect(await notes()).toContain('metrics.port=10246');
    expect(await notes('metrics.port=10246')).not.toContain('loopback');
  });
});

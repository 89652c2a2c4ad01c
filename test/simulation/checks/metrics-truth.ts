import type { Simulation } from '../simulation.js';
import { ask, METRICS } from './ask.js';

/** What the metrics say when nothing is wrong any more, although it is not so; undefined if all is true. */
export async function falseMetric({ world, history }: Simulation): Promise<string | undefined> {
  const { status, body } = await ask(world, METRICS, '/metrics');
  if (status !== 200) return `the metrics cannot be read: ${status} ${body}`;
  const ports = history.ports;
  const expected = new Map<string, number>([
    ['kube_proxy_ts_configuration_rejected', 0],
    ['kube_proxy_ts_ignored_objects', 0],
    ['kube_proxy_ts_watch_connected', 1],
    ['kube_proxy_ts_node_state{state="ok"}', 1],
    ['kubeproxy_sync_proxy_rules_service_changes_pending', 0],
    ['kubeproxy_sync_proxy_rules_endpoint_changes_pending', 0],
  ]);
  for (const family of world.settings.families) {
    const of = `ip_family="${family}"`;
    const ofFamily = ports.filter((port) => port.family === family);
    const whole = new Map(
      history.owned.map(({ key, family: its, frontends }) => [`${its} ${key}`, frontends.length]),
    );
    const degraded = ofFamily.filter(
      ({ key, frontends }) => whole.get(`${family} ${key}`) !== frontends.length,
    );
    const states = { programmed: ofFamily.length - degraded.length, degraded: degraded.length, failed: 0 };
    for (const [state, count] of Object.entries(states))
      expected.set(`kube_proxy_ts_service_ports{${of},state="${state}"}`, count);
    expected.set(`kube_proxy_ts_pending_services{${of}}`, 0);
    expected.set(`kube_proxy_ts_synced{${of}}`, 1);
  }
  const missing = new Set([...expected.keys()].filter((sample) => sample.includes('{')));
  for (const line of body.split('\n')) {
    const [, sample = '', name = '', value] = /^((\w+)\S*) (\S+)$/.exec(line) ?? [];
    missing.delete(sample);
    const wanted = expected.get(sample) ?? expected.get(name);
    if (wanted !== undefined && Number(value) !== wanted) return `the metrics say ${line}, not ${wanted}`;
  }
  const [first] = missing;
  return first && `the metrics do not have ${first}`;
}

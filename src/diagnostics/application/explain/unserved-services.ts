import { readService } from '../../../domain/decode/read-service.js';
import type { ServiceKey } from '../../../domain/model/service-port-name.js';
import type { UnservedKind } from '../../../domain/model/service.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import { errorMessage } from '../../../application/error-message.js';
import type { ServiceLookup } from '../../../application/ports/service-lookup.js';
import type { ObjectReports } from '../../../application/use-cases/object-reports.js';
import type { Unserved } from './explanation.js';

const TEXTS: Readonly<Record<UnservedKind, string>> = {
  headless: 'it is headless (clusterIP None): its name resolves to its pods, and no proxy is needed',
  'external-name': 'its type is ExternalName: its name resolves to another name, and no proxy is needed',
  'other-proxy': 'its label service.kubernetes.io/service-proxy-name gives it to another proxy',
  'no-cluster-ip': 'it has no cluster IP yet',
};

/** How many namesakes are named. */
const MOST_NAMESAKES = 3;

/** Tells why a Service is not served. */
export class UnservedServices {
  constructor(
    private readonly state: ClusterState,
    private readonly reports: ObjectReports,
    /** Undefined where every Service is delivered, as from manifests. */
    private readonly lookup: ServiceLookup | undefined,
  ) {}

  /** Why this Service, which has no valid version here, is not served. Asks the cluster, if it is not known here. */
  async why(service: ServiceKey): Promise<Unserved> {
    const kind = this.state.unservedKind(service);
    if (kind !== undefined) return { kind, text: TEXTS[kind] };
    const problems = this.reports
      .about(service, [])
      .filter((problem) => problem.includes(`Service ${service}`));
    if (problems.length > 0)
      return { kind: 'invalid', text: `its object is invalid: ${problems.join('; ')}` };
    try {
      const raw = await this.lookup?.find(service);
      if (raw === undefined) return { kind: 'absent', text: this.absence(service) };
      const { ignored } = readService(raw);
      if (ignored !== undefined) return { kind: ignored, text: TEXTS[ignored] };
      return { kind: 'undelivered', text: 'it exists, but its news has not arrived yet' };
    } catch (error) {
      const reason = errorMessage(error);
      return {
        kind: 'undelivered',
        text: `it is not among the Services that are delivered to this node; whether it is headless, of another proxy, or absent is not known, because the cluster cannot be asked: ${reason}`,
      };
    }
  }

  private absence(service: ServiceKey): string {
    const [namespace = '', name = ''] = service.split('/');
    const namesakes = [...this.state.serviceKeys()]
      .filter((key) => key.endsWith(`/${name}`))
      .slice(0, MOST_NAMESAKES);
    const others = namesakes.length === 0 ? '' : `; of that name there is ${namesakes.sort().join(', ')}`;
    return `there is no Service ${name} in namespace ${namespace}${others}`;
  }
}

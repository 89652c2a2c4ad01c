import { serviceKey, serviceOf, type ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { EventRecorder } from '../ports/event-recorder.js';
import type { FailedStatus } from '../status/port-status.js';

/**
 * Records an event on the Service when one of its ports fails to be programmed on this node; not for one that was never tried by
 * itself. Failures for the same reason are the same event.
 */
export function failedPortEvents(
  events: EventRecorder,
  nodeName: string,
): (family: IpFamily, key: ServicePortKey, status: FailedStatus) => void {
  return (family, key, { reason, attempts }) => {
    if (attempts === 0) return;
    const [namespace = '', name = ''] = serviceOf(key).split('/');
    const port = key.slice(serviceKey(namespace, name).length + 1);
    events.record({
      regarding: { kind: 'Service', namespace, name },
      type: 'Warning',
      reason: 'FailedToProgramServicePort',
      action: 'SyncProxyRules',
      note: `node ${nodeName} failed to program ${port} (${family}): ${reason}`,
    });
  };
}

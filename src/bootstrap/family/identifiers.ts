import type { ServiceHealthChecks } from '../../application/health/service-health-checks.js';
import type { Backend } from '../../application/ports/backend.js';
import type { SyncLoop } from '../../application/sync/sync-loop.js';
import type { ReconcileConntrack } from '../../application/use-cases/reconcile-conntrack.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { Identifier } from '../injection/identifier.js';
import type { ServedFamily } from './served-family.js';

/* The parts that every IP family has for itself, in a container of its own. */

export const FAMILY = new Identifier<IpFamily>('family');
/** Provided by the mode in force. */
export const BACKEND = new Identifier<Backend>('backend');
export const SYNC_LOOP = new Identifier<SyncLoop>('sync loop');
/** Undefined: health-check node ports stay closed. */
export const SERVICE_HEALTH_CHECKS = new Identifier<ServiceHealthChecks | undefined>('service health checks');
/** Undefined: tracked connections are left alone. */
export const CONNTRACK_RECONCILER = new Identifier<ReconcileConntrack | undefined>('conntrack reconciler');
export const SERVED_FAMILY = new Identifier<ServedFamily>('served family');

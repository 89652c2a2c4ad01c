import { ContainerModule } from 'inversify';
import { NetlinkConntrack } from '../../adapters/conntrack/netlink-conntrack.js';
import { ReconcileConntrack } from '../../application/use-cases/reconcile-conntrack.js';
import {
  CLOCK,
  CONNTRACK,
  CONNTRACK_RECONCILERS,
  FAMILIES,
  LOCAL_ADDRESSES,
  LOGGER,
  METRICS,
  MODE,
} from '../identifiers.js';

/** Stale UDP flows: for each family one that removes them after syncs. */
export const conntrackModule = new ContainerModule(({ bind }) => {
  bind(CONNTRACK).toConstantValue(new NetlinkConntrack());
  bind(CONNTRACK_RECONCILERS)
    .toDynamicValue((context) =>
      context
        .get(FAMILIES)
        .map(
          (family) =>
            new ReconcileConntrack(
              family,
              context.get(CONNTRACK),
              context.get(LOCAL_ADDRESSES),
              context.get(METRICS),
              context.get(CLOCK),
              context.get(LOGGER).child({ caller: 'reconcile-conntrack' }),
              context.get(MODE).udpFlows,
            ),
        ),
    )
    .inSingletonScope();
});

import { ContainerModule } from 'inversify';
import { hostname } from 'node:os';
import { ApiEventRecorder } from '../../adapters/events/api-event-recorder.js';
import { LoggedEvents } from '../../adapters/events/logged-events.js';
import { API_CLIENT, CLOCK, COMMAND_LINE, EVENT_RECORDER, LOGGER } from '../identifiers.js';

/** Where events go: to the API server, or to the log where there is none, or nothing runs for longer than one sync. */
export const eventsModule = new ContainerModule(({ bind }) => {
  bind(EVENT_RECORDER)
    .toDynamicValue((context) => {
      const { manifests, once, command } = context.get(COMMAND_LINE);
      const logger = context.get(LOGGER).child({ caller: 'event-recorder' });
      if (manifests.length > 0 || once || command !== 'run') return new LoggedEvents(logger);
      return new ApiEventRecorder(context.get(API_CLIENT), hostname(), context.get(CLOCK), logger);
    })
    .inSingletonScope();
});

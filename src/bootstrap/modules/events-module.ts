import { hostname } from 'node:os';
import { ApiEventRecorder, type EventApi, LoggedEvents } from '../../adapters/events/event-recorder.js';
import type { ReadingModule } from '../parts/reading-parts.js';

/** Where events go: to the API server, or to the log where there is none or nothing runs longer than one sync. */
export const eventsModule = {
  eventRecorder({ commandLine, apiClient, clock, logger: root }) {
    const { manifests, once, request } = commandLine;
    const logger = root.child({ caller: 'event-recorder' });
    if (manifests.length > 0 || once || request.name !== 'run') return new LoggedEvents(logger);
    const api = async (): Promise<EventApi> => {
      const { eventRequests } = await import('../../adapters/events/event-requests.js');
      return { requests: eventRequests, client: await apiClient() };
    };
    return new ApiEventRecorder(api, hostname(), clock, logger);
  },
} satisfies ReadingModule;

/** What questions are about. */
export interface Subject {
  /** Another number as soon as an answer may be another one. NaN, where that cannot be told: then the questions are always asked. */
  readonly version: number;
}

/** Questions about this are asked again each time. */
export const ANYTHING: Subject = { version: Number.NaN };

/**
 * A question that many packets ask, as one that is answered once for each version of its subject.
 * @param question asks for a value, or for an object that is another one once anything in it has changed
 */
export function answeredOnce<Answer>(subject: Subject, question: () => Answer): () => Answer {
  let known: { readonly version: number; readonly answer: Answer } | undefined;
  return () => {
    const { version } = subject;
    if (known?.version !== version) known = { version, answer: question() };
    return known.answer;
  };
}

interface Question {
  readonly ask: () => unknown;
  readonly answer: unknown;
}

interface Asked {
  readonly subject: Subject;
  readonly questions: Question[];
  /** When the answers were found to be the same last. */
  version: number;
}

/** All that a walk asks the simulated machine, with what it was told. */
export class Inquiry {
  /** About few subjects. */
  private readonly asked: Asked[] = [];

  /** @param question asks for a value, or for an object that is another one once anything in it has changed */
  ask<Answer>(subject: Subject, question: () => Answer): Answer {
    const answer = question();
    let asked = this.asked.find((each) => each.subject === subject);
    if (!asked) this.asked.push((asked = { subject, questions: [], version: subject.version }));
    asked.questions.push({ ask: question, answer });
    return answer;
  }

  /** Whether the machine would answer as it did, so that a packet would fare as it did. */
  isUpToDate(): boolean {
    for (const asked of this.asked) {
      const { version } = asked.subject;
      if (version === asked.version) continue;
      for (const { ask, answer } of asked.questions) if (ask() !== answer) return false;
      asked.version = version;
    }
    return true;
  }
}

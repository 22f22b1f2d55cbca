// Generated from the Rust types: do not edit.
// cargo run -p quillgate-generate -- decoders src/wasm/decode.js

const MAX_COUNT = Number.MAX_SAFE_INTEGER;

function found(value) {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return { string: "text", number: "a number", boolean: "a boolean" }[typeof value] ?? "an object";
}

/** A refusal: where in the JSON, from the inside out, and what is wrong there. */
function refuse(value, rule) {
  throw { where: "", what: `must be ${rule}, found ${found(value)}` };
}

/** Puts `step` before the place that a refusal names. */
function under(step, refusal) {
  const { where } = refusal;
  refusal.where = where === "" || where[0] === "[" ? step + where : `${step}.${where}`;
  return refusal;
}

function text(value) {
  return typeof value === "string" ? value : refuse(value, "text");
}

function number(value) {
  return Number.isFinite(value) ? value : refuse(value, "a number");
}

function flag(value) {
  return typeof value === "boolean" ? value : refuse(value, "true or false");
}

function count(value) {
  return Number.isInteger(value) && value >= 0 && value <= MAX_COUNT
    ? value
    : refuse(value, "an integer from 0 to 9007199254740991");
}

function object(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(value, "an object");
}

function list(value, element) {
  if (!Array.isArray(value)) refuse(value, "an array");
  const { length } = value;
  const decoded = new Array(length);
  let at = 0;
  try {
    for (; at < length; at++) decoded[at] = element(value[at]);
  } catch (refusal) {
    throw under(`[${at}]`, refusal);
  }
  return decoded;
}

function Source(value) {
  object(value);
  let at;
  try {
    return {
      repository: ((at = "repository"), value.repository == null ? null : text(value.repository)),
      ref: ((at = "ref"), value.ref == null ? null : text(value.ref)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function AgentJob(value) {
  object(value);
  let at;
  try {
    return {
      id: ((at = "id"), value.id == null ? null : text(value.id)),
      status: ((at = "status"), value.status == null ? null : text(value.status)),
      source: ((at = "source"), value.source == null ? null : Source(value.source)),
      model: ((at = "model"), value.model == null ? null : text(value.model)),
      prLink: ((at = "prLink"), value.prLink == null ? null : text(value.prLink)),
      createdAt: ((at = "createdAt"), value.createdAt == null ? null : text(value.createdAt)),
      archivedAt: ((at = "archivedAt"), value.archivedAt == null ? null : text(value.archivedAt)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function ListedJob(value) {
  object(value);
  let at;
  try {
    return {
      id: ((at = "id"), text(value.id)),
      status: ((at = "status"), value.status == null ? null : text(value.status)),
      prompt: ((at = "prompt"), value.prompt == null ? null : text(value.prompt)),
      createdBy: ((at = "createdBy"), value.createdBy == null ? null : text(value.createdBy)),
      createdAt: ((at = "createdAt"), value.createdAt == null ? null : text(value.createdAt)),
      prLink: ((at = "prLink"), value.prLink == null ? null : text(value.prLink)),
      checkedAt: ((at = "checkedAt"), value.checkedAt == null ? null : text(value.checkedAt)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function JobPage(value) {
  object(value);
  let at;
  try {
    return {
      jobs: ((at = "jobs"), list(value.jobs, ListedJob)),
      nextCursor: ((at = "nextCursor"), value.nextCursor == null ? null : text(value.nextCursor)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function ViewTotals(value) {
  object(value);
  let at;
  try {
    return {
      human: ((at = "human"), value.human == null ? null : count(value.human)),
      ai: ((at = "ai"), value.ai == null ? null : count(value.ai)),
      total: ((at = "total"), value.total == null ? null : count(value.total)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function PageView(value) {
  object(value);
  let at;
  try {
    return {
      path: ((at = "path"), value.path == null ? null : text(value.path)),
      human: ((at = "human"), value.human == null ? null : count(value.human)),
      ai: ((at = "ai"), value.ai == null ? null : count(value.ai)),
      total: ((at = "total"), value.total == null ? null : count(value.total)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function PageViews(value) {
  object(value);
  let at;
  try {
    return {
      totals: ((at = "totals"), ViewTotals(value.totals)),
      views: ((at = "views"), list(value.views, PageView)),
      hasMore: ((at = "hasMore"), flag(value.hasMore)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function VisitorTotals(value) {
  object(value);
  let at;
  try {
    return {
      human: ((at = "human"), value.human == null ? null : count(value.human)),
      ai: ((at = "ai"), value.ai == null ? null : count(value.ai)),
      total: ((at = "total"), value.total == null ? null : count(value.total)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function PageVisitors(value) {
  object(value);
  let at;
  try {
    return {
      path: ((at = "path"), value.path == null ? null : text(value.path)),
      human: ((at = "human"), value.human == null ? null : count(value.human)),
      ai: ((at = "ai"), value.ai == null ? null : count(value.ai)),
      total: ((at = "total"), value.total == null ? null : count(value.total)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function Visitors(value) {
  object(value);
  let at;
  try {
    return {
      totals: ((at = "totals"), VisitorTotals(value.totals)),
      visitors: ((at = "visitors"), list(value.visitors, PageVisitors)),
      hasMore: ((at = "hasMore"), flag(value.hasMore)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function ContextualFeedback(value) {
  object(value);
  let at;
  try {
    return {
      id: ((at = "id"), value.id == null ? null : text(value.id)),
      path: ((at = "path"), value.path == null ? null : text(value.path)),
      comment: ((at = "comment"), value.comment == null ? null : text(value.comment)),
      createdAt: ((at = "createdAt"), value.createdAt == null ? null : text(value.createdAt)),
      source: ((at = "source"), text(value.source)),
      status: ((at = "status"), value.status == null ? null : text(value.status)),
      helpful: ((at = "helpful"), value.helpful == null ? null : flag(value.helpful)),
      contact: ((at = "contact"), value.contact == null ? null : text(value.contact)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function CodeSnippetFeedback(value) {
  object(value);
  let at;
  try {
    return {
      id: ((at = "id"), value.id == null ? null : text(value.id)),
      path: ((at = "path"), value.path == null ? null : text(value.path)),
      comment: ((at = "comment"), value.comment == null ? null : text(value.comment)),
      createdAt: ((at = "createdAt"), value.createdAt == null ? null : text(value.createdAt)),
      source: ((at = "source"), text(value.source)),
      status: ((at = "status"), value.status == null ? null : text(value.status)),
      code: ((at = "code"), value.code == null ? null : text(value.code)),
      filename: ((at = "filename"), value.filename == null ? null : text(value.filename)),
      lang: ((at = "lang"), value.lang == null ? null : text(value.lang)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function OtherFeedback(value) {
  object(value);
  let at;
  try {
    return {
      id: ((at = "id"), value.id == null ? null : text(value.id)),
      path: ((at = "path"), value.path == null ? null : text(value.path)),
      comment: ((at = "comment"), value.comment == null ? null : text(value.comment)),
      createdAt: ((at = "createdAt"), value.createdAt == null ? null : text(value.createdAt)),
      source: ((at = "source"), text(value.source)),
      status: ((at = "status"), value.status == null ? null : text(value.status)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function FeedbackPage(value) {
  object(value);
  let at;
  try {
    return {
      feedback: ((at = "feedback"), list(value.feedback, Feedback)),
      nextCursor: ((at = "nextCursor"), value.nextCursor == null ? null : text(value.nextCursor)),
      hasMore: ((at = "hasMore"), flag(value.hasMore)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function PageFeedback(value) {
  object(value);
  let at;
  try {
    return {
      path: ((at = "path"), value.path == null ? null : text(value.path)),
      thumbsUp: ((at = "thumbsUp"), value.thumbsUp == null ? null : count(value.thumbsUp)),
      thumbsDown: ((at = "thumbsDown"), value.thumbsDown == null ? null : count(value.thumbsDown)),
      code: ((at = "code"), value.code == null ? null : count(value.code)),
      total: ((at = "total"), value.total == null ? null : count(value.total)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function FeedbackByPage(value) {
  object(value);
  let at;
  try {
    return {
      feedback: ((at = "feedback"), list(value.feedback, PageFeedback)),
      hasMore: ((at = "hasMore"), flag(value.hasMore)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function SearchTerm(value) {
  object(value);
  let at;
  try {
    return {
      searchQuery: ((at = "searchQuery"), value.searchQuery == null ? null : text(value.searchQuery)),
      hits: ((at = "hits"), value.hits == null ? null : count(value.hits)),
      ctr: ((at = "ctr"), value.ctr == null ? null : number(value.ctr)),
      topClickedPage: ((at = "topClickedPage"), value.topClickedPage == null ? null : text(value.topClickedPage)),
      lastSearchedAt: ((at = "lastSearchedAt"), value.lastSearchedAt == null ? null : text(value.lastSearchedAt)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function Searches(value) {
  object(value);
  let at;
  try {
    return {
      searches: ((at = "searches"), list(value.searches, SearchTerm)),
      totalSearches: ((at = "totalSearches"), value.totalSearches == null ? null : count(value.totalSearches)),
      nextCursor: ((at = "nextCursor"), value.nextCursor == null ? null : text(value.nextCursor)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function ConversationSource(value) {
  object(value);
  let at;
  try {
    return {
      title: ((at = "title"), value.title == null ? null : text(value.title)),
      url: ((at = "url"), value.url == null ? null : text(value.url)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function Conversation(value) {
  object(value);
  let at;
  try {
    return {
      id: ((at = "id"), value.id == null ? null : text(value.id)),
      timestamp: ((at = "timestamp"), value.timestamp == null ? null : text(value.timestamp)),
      query: ((at = "query"), value.query == null ? null : text(value.query)),
      response: ((at = "response"), value.response == null ? null : text(value.response)),
      responseType: ((at = "responseType"), value.responseType == null ? null : text(value.responseType)),
      sources: ((at = "sources"), value.sources == null ? null : list(value.sources, ConversationSource)),
      resolutionStatus: ((at = "resolutionStatus"), value.resolutionStatus == null ? null : text(value.resolutionStatus)),
      queryCategory: ((at = "queryCategory"), value.queryCategory == null ? null : text(value.queryCategory)),
      pageUrl: ((at = "pageUrl"), value.pageUrl == null ? null : text(value.pageUrl)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function Conversations(value) {
  object(value);
  let at;
  try {
    return {
      conversations: ((at = "conversations"), list(value.conversations, Conversation)),
      nextCursor: ((at = "nextCursor"), value.nextCursor == null ? null : text(value.nextCursor)),
      hasMore: ((at = "hasMore"), flag(value.hasMore)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function ThreadMessage(value) {
  object(value);
  let at;
  try {
    return {
      id: ((at = "id"), value.id == null ? null : text(value.id)),
      role: ((at = "role"), value.role == null ? null : text(value.role)),
      content: ((at = "content"), value.content == null ? null : text(value.content)),
      createdAt: ((at = "createdAt"), value.createdAt == null ? null : text(value.createdAt)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function ConversationThread(value) {
  object(value);
  let at;
  try {
    return {
      threadId: ((at = "threadId"), value.threadId == null ? null : text(value.threadId)),
      createdAt: ((at = "createdAt"), value.createdAt == null ? null : text(value.createdAt)),
      messages: ((at = "messages"), list(value.messages, ThreadMessage)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function CallerStats(value) {
  object(value);
  let at;
  try {
    return {
      web: ((at = "web"), value.web == null ? null : count(value.web)),
      api: ((at = "api"), value.api == null ? null : count(value.api)),
      other: ((at = "other"), value.other == null ? null : count(value.other)),
      total: ((at = "total"), value.total == null ? null : count(value.total)),
    };
  } catch (refusal) {
    throw under(at, refusal);
  }
}

function Feedback(value) {
  object(value);
  switch (value.source) {
    case "contextual":
      return ContextualFeedback(value);
    case "code_snippet":
      return CodeSnippetFeedback(value);
    default:
      return OtherFeedback(value);
  }
}

const DECODERS = { Source, AgentJob, ListedJob, JobPage, ViewTotals, PageView, PageViews, VisitorTotals, PageVisitors, Visitors, ContextualFeedback, CodeSnippetFeedback, OtherFeedback, FeedbackPage, PageFeedback, FeedbackByPage, SearchTerm, Searches, ConversationSource, Conversation, Conversations, ThreadMessage, ConversationThread, CallerStats };

/** Checks a parsed body against the type of that name, and copies what the type knows of it. */
export function decode(name, value) {
  return DECODERS[name](value);
}

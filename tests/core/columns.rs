use quillgate::Operation;
use quillgate::columns::{Content, Member, columns, row_columns};
use quillgate::schema::{Field, JsonType, Object, Union};

#[test]
fn the_columns_of_each_list_are_the_fields_of_its_rows() {
    let searches = "searchQuery hits ctr topClickedPage lastSearchedAt";
    let conversations = "id timestamp query response responseType sources resolutionStatus \
        queryCategory pageUrl";
    let jobs = "id status prompt createdBy createdAt prLink checkedAt";
    // The columns of all variants of a union, once.
    let feedback = "id path comment createdAt source status helpful contact code filename lang";
    for (operation, expected) in [
        (Operation::ListPageViews, "path human ai total"),
        (Operation::ListVisitors, "path human ai total"),
        (Operation::ListSearches, searches),
        (Operation::ListConversations, conversations),
        (Operation::ListAgentJobs, jobs),
        (Operation::ListFeedback, feedback),
    ] {
        let found = columns(operation).names.join(" ");
        assert_eq!(found, expected, "{operation:?}");
    }
}

#[test]
fn exactly_the_operations_with_rows_have_columns() {
    for operation in Operation::ALL {
        let has_rows = operation.declaration().pagination.rows().is_some();
        let found = !columns(*operation).names.is_empty();
        assert_eq!(found, has_rows, "{}", operation.declaration().name);
    }
}

const fn field(name: &'static str, kind: JsonType) -> Field {
    Field {
        name,
        doc: &[],
        kind,
    }
}

#[test]
fn nested_objects_are_flattened_but_lists_and_unions_are_not() {
    const PERSON: Object = Object {
        name: "Person",
        doc: &[],
        fields: &[
            field("name", JsonType::String),
            field("age", JsonType::SafeInteger),
        ],
    };
    const PLACE: Object = Object {
        name: "ParameterIn",
        doc: &[],
        fields: &[
            field("street", JsonType::String),
            field("owner", JsonType::Nullable(&JsonType::Object(&PERSON))),
        ],
    };
    const EITHER: Union = Union {
        name: "Either",
        doc: &[],
        tag: "name",
        variants: &[("x", JsonType::Object(&PERSON))],
        otherwise: JsonType::Object(&PLACE),
    };
    const ROW: Object = Object {
        name: "Row",
        doc: &[],
        fields: &[
            field("id", JsonType::String),
            field("place", JsonType::Object(&PLACE)),
            field("people", JsonType::List(&JsonType::Object(&PERSON))),
            field("either", JsonType::Union(&EITHER)),
        ],
    };
    const JSON_TYPE: JsonType = JsonType::Object(&ROW);
    let columns = row_columns(&JSON_TYPE);
    let expected = [
        "id",
        "place.street",
        "place.owner.name",
        "place.owner.age",
        "people",
        "either",
    ];
    assert_eq!(columns.names, expected);
    let cell = |name, column| Member {
        name,
        content: Content::Cell(column),
    };
    let record = |name, members: [Member; 2]| Member {
        name,
        content: Content::Record(members.to_vec()),
    };
    let owner = record("owner", [cell("name", 2), cell("age", 3)]);
    let expected = [
        cell("id", 0),
        record("place", [cell("street", 1), owner]),
        cell("people", 4),
        cell("either", 5),
    ];
    assert_eq!(columns.members, expected);
}

use super::*;

/// A kernel without RDMA, and one with it: what is missing is named, and what is there is whole.
#[test]
fn this_kernel_has_a_layout_or_the_error_names_what_is_missing() {
    match Layout::of_this_kernel() {
        Ok(layout) => {
            let AttributeLayout { remote_gid, .. } = layout.attributes;
            assert_eq!(remote_gid.bytes, 16);
            assert!(layout.program.attribute_bytes >= remote_gid.offset + 16);
        }
        Err(Error::Types(path, _)) => assert!(path.starts_with(DIRECTORY)),
        Err(error) => assert!(matches!(error, Error::Field(_)), "{error}"),
    }
}
